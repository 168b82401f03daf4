import { errorStatus } from '@llm0/core/errors/error-table';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { sqlState } from '@llm0/drizzle/sql-state';
import type { ErrorEnvelope } from '../../dialects/dialect';

/** RFC 7644, 3.12. */
export type ScimType =
  | 'invalidFilter'
  | 'uniqueness'
  | 'mutability'
  | 'invalidSyntax'
  | 'invalidPath'
  | 'noTarget'
  | 'invalidValue';

const ERROR_SCHEMA = 'urn:ietf:params:scim:api:messages:2.0:Error';
const UNIQUE_VIOLATION = '23505';

/** Refusal that says its `scimType`. */
export class ScimRefused extends GatewayError {
  constructor(
    readonly scimType: ScimType,
    message: string,
    cause?: unknown,
  ) {
    super(scimType === 'uniqueness' ? 'conflict' : 'invalid_request', message, { cause });
  }
}

/** Errors as RFC 7644 has them. */
export const scimEnvelope: Pick<ErrorEnvelope, 'encodeError' | 'errorHeaders'> & ErrorEnvelope = {
  errorHeaders: () => ({ 'Content-Type': 'application/scim+json' }),
  encodeError: (error) => {
    const scimType = error instanceof ScimRefused ? error.scimType : undefined;
    return JSON.stringify({
      schemas: [ERROR_SCHEMA],
      status: String(errorStatus(error)),
      ...(scimType && { scimType }),
      detail: error.message,
    });
  },
};

/** What a constraint refuses becomes `uniqueness`. */
export async function unlessTaken<T>(message: string, change: Promise<T>): Promise<T> {
  try {
    return await change;
  } catch (cause) {
    if (sqlState(cause) !== UNIQUE_VIOLATION) throw cause;
    throw new ScimRefused('uniqueness', message, cause);
  }
}

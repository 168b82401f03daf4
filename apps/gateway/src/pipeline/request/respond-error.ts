import { ERROR_TABLE, errorStatus } from '@llm0/core/errors/error-table';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { traceFields } from '@llm0/core/tracing/request-trace';
import type { Logger } from 'pino';
import type { ErrorEnvelope } from '../../dialects/dialect';
import { AdmissionDenied } from './denials';
import type { RequestContext } from './open-context';
import { addLimitHeaders, type HeaderTable } from './response-headers';

/** Converts any thrown value to a `GatewayError`. Anything else is a bug: logged in full, shown without details. */
export function asGatewayError(
  cause: unknown,
  log: Pick<Logger, 'error'>,
  about?: Pick<RequestContext, 'requestId' | 'trace'>,
): GatewayError {
  if (cause instanceof GatewayError) return cause;
  log.error({ err: cause, ...namesOf(about) }, 'unexpected failure');
  return new GatewayError('internal', 'The gateway failed unexpectedly. The operator finds the details in its log.', {
    cause,
  });
}

/** Request fields of a log line. */
const namesOf = (about: Pick<RequestContext, 'requestId' | 'trace'> | undefined) =>
  about === undefined ? {} : { request_id: about.requestId, ...traceFields(about.trace, about.requestId) };

export interface ErrorContext {
  readonly requestId: string;
  readonly dialect: ErrorEnvelope;
  /** The project's cap, for the spend headers of denials. */
  readonly projectCapNanoUsd?: number | null;
}

const MIN_RETRY_AFTER_SECONDS = 1;

/** The one place where an error becomes bytes. */
export function respondError(error: GatewayError, context: ErrorContext): Response {
  const status = errorStatus(error);
  const headers: HeaderTable = { 'Content-Type': 'application/json', 'X-Request-Id': context.requestId };
  const { requestIdHeader, errorHeaders } = context.dialect;
  if (errorHeaders !== undefined) Object.assign(headers, errorHeaders(error));
  if (requestIdHeader !== undefined) headers[requestIdHeader] = context.requestId;
  if (status === 429 || status === 503 || error.retryAfterMs !== undefined) {
    const seconds = Math.ceil((error.retryAfterMs ?? 0) / 1000);
    headers['Retry-After'] = String(Math.max(MIN_RETRY_AFTER_SECONDS, seconds));
  }
  if (error instanceof AdmissionDenied) addLimitHeaders(headers, error.state, context.projectCapNanoUsd ?? null);
  // The rest of the body still arrives, so the connection can't serve another request.
  if (status === 408) headers.Connection = 'close';
  // RFC 9110 wants the protocol that is spoken.
  if (status === 426) Object.assign(headers, { Upgrade: 'HTTP/1.1', Connection: 'Upgrade' });
  if (ERROR_TABLE[error.kind].status === 401) headers['WWW-Authenticate'] = 'Bearer';
  return new Response(context.dialect.encodeError(error, context.requestId), { status, headers });
}

import type { ErrorEnvelope } from '../dialects/dialect';
import type { Services } from '../services/contract';
import {
  type Authenticated,
  authenticate,
  type ChosenKey,
  refreshStaleTables,
  reloadPrincipal,
} from './request/authenticate';
import { asGatewayError, respondError } from './request/respond-error';

export type KeyNeeds = Pick<
  Services,
  'keyCache' | 'legacyKeys' | 'accessTokens' | 'clock' | 'createId' | 'log' | 'hotStore' | 'refreshTables'
>;

export interface KeyRequest {
  readonly request: Request;
  readonly dialect: ErrorEnvelope;
  /** An operator's question about a key. */
  readonly chosen?: ChosenKey;
}

/**
 * Answers a request about the key's own data. Loads the key each time, because no admission would notice a revocation.
 */
export async function handleKeyRequest(
  services: KeyNeeds,
  { request, dialect, chosen }: KeyRequest,
  build: (principal: Authenticated, headers: Record<string, string>) => Response | Promise<Response>,
): Promise<Response> {
  const requestId = chosen?.requestId ?? services.createId();
  try {
    const { keyHash } = await authenticate(services, request, chosen);
    const principal = await reloadPrincipal(services, keyHash);
    await refreshStaleTables(services, principal);
    return await build(principal, { 'X-Request-Id': requestId });
  } catch (cause) {
    return respondError(asGatewayError(cause, services.log), { requestId, dialect });
  }
}

// Postgres unreachable: 503.
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { Principal } from '@llm0/core/keys/api-key';
import type { Services } from '../../services/contract';

type Needs = Pick<Services, 'keyCache' | 'clock'>;

/** A principal and the hash it was found by, for reloading it. */
export interface Authenticated extends Principal {
  readonly keyHash: string;
}

/** By the hash of a key that this process may know already; a legacy key is known by it after its first use. */
export function loadPrincipal(
  services: Needs & Pick<Services, 'legacyKeys'>,
  keyHash: string,
  secret: string,
): Promise<Authenticated> {
  const find = async () => {
    const found = await services.keyCache.find(keyHash);
    if (found !== null || !(await services.legacyKeys.adopt(secret, keyHash))) return found;
    return services.keyCache.reload(keyHash);
  };
  return checkFound(services, keyHash, find());
}

/** Loads the key again after the hot store called it out of date. */
export function reloadPrincipal(services: Needs, keyHash: string): Promise<Authenticated> {
  return checkFound(services, keyHash, services.keyCache.reload(keyHash));
}

async function checkFound(
  { clock }: Needs,
  keyHash: string,
  search: Promise<Principal | null>,
): Promise<Authenticated> {
  const found = await search.catch((cause: unknown) => {
    const message = 'The key store cannot be reached right now. Please retry.';
    throw new GatewayError('store_unavailable', message, { retryAfterMs: 1000, cause });
  });
  if (found === null) throw invalidKey();
  return { ...checkPrincipal(found, clock.nowMs()), keyHash };
}

export function invalidKey(): GatewayError {
  return new GatewayError('invalid_api_key', 'This API key is unknown or was revoked. Check the key you send.');
}

/** Throws for keys and projects that are off or over. */
export function checkPrincipal(principal: Principal, nowMs: number): Principal {
  const { key, project } = principal;
  if (!key.isActive) throw invalidKey();
  if (key.expiresAtMs !== null && key.expiresAtMs <= nowMs) {
    throw new GatewayError('key_expired', 'This API key has expired. Ask the operator for a new one.');
  }
  if (!project.isActive) {
    throw new GatewayError('project_inactive', 'The project of this API key is switched off.');
  }
  return principal;
}

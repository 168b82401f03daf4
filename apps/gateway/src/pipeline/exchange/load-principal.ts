// Postgres unreachable: 503.
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { Principal } from '@llm0/core/keys/api-key';
import type { Services } from '../../services/contract';

type Needs = Pick<Services, 'keyCache' | 'clock'>;

/** A principal and the hash it was found by, for reloading it. */
export interface Authenticated extends Principal {
  readonly keyHash: string;
}

/** By the hash of a key that this process may know already. */
export async function loadPrincipal(services: Needs, keyHash: string): Promise<Authenticated> {
  const found = await lookUp(services.keyCache.find(keyHash));
  if (found === null) throw invalidKey();
  return { ...checkPrincipal(found, services.clock.nowMs()), keyHash };
}

/** Loads the key again after the hot store called it out of date. */
export async function reloadPrincipal(services: Needs, keyHash: string): Promise<Authenticated> {
  const found = await lookUp(services.keyCache.reload(keyHash));
  if (found === null) throw invalidKey();
  return { ...checkPrincipal(found, services.clock.nowMs()), keyHash };
}

async function lookUp(search: Promise<Principal | null>): Promise<Principal | null> {
  try {
    return await search;
  } catch (cause) {
    throw new GatewayError('store_unavailable', 'The key store cannot be reached right now. Please retry.', {
      retryAfterMs: 1000,
      cause,
    });
  }
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

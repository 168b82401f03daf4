// Postgres unreachable: keys known to this process pass (admit checks their versions), unknown ones get a 503.
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { Principal } from '@llm0/core/keys/api-key';
import { hashSecret, looksLikeKey } from '@llm0/core/keys/key-secret';
import type { Services } from '../../services/contract';

/** A principal and the hash it was found by, for reloading it. */
export interface Authenticated extends Principal {
  readonly keyHash: string;
}

/** Bearer, `x-api-key` or `x-goog-api-key` → key and project. */
export function authenticate(
  services: Pick<Services, 'keyCache' | 'clock'>,
  request: Request,
): Authenticated | Promise<Authenticated> {
  const secret = readSecret(request.headers);
  if (!looksLikeKey(secret)) throw invalidKey();
  const keyHash = hashSecret(secret);
  const cached = services.keyCache.peek(keyHash);
  if (cached !== undefined) return { ...checkPrincipal(cached, services.clock.nowMs()), keyHash };
  return loadPrincipal(services, keyHash);
}

async function loadPrincipal(services: Pick<Services, 'keyCache' | 'clock'>, keyHash: string): Promise<Authenticated> {
  const found = await lookUp(services.keyCache.find(keyHash));
  if (found === null) throw invalidKey();
  return { ...checkPrincipal(found, services.clock.nowMs()), keyHash };
}

/** Loads the key again after the hot store called it out of date. */
export async function reloadPrincipal(
  services: Pick<Services, 'keyCache' | 'clock'>,
  keyHash: string,
): Promise<Authenticated> {
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

function readSecret(headers: Headers): string {
  const authorization = headers.get('authorization');
  const bearer = authorization === null ? undefined : /^bearer\s+(\S+)\s*$/i.exec(authorization)?.[1];
  const secret = bearer ?? headers.get('x-api-key') ?? headers.get('x-goog-api-key');
  if (secret === null || secret === '') {
    throw new GatewayError(
      'missing_api_key',
      'No API key was sent. Put it in the header "Authorization: Bearer llm0_live_…".',
    );
  }
  return secret;
}

function invalidKey(): GatewayError {
  return new GatewayError('invalid_api_key', 'This API key is unknown or was revoked. Check the key you send.');
}

function checkPrincipal(principal: Principal, nowMs: number): Principal {
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

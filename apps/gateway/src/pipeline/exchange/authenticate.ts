// Postgres unreachable: keys known to this process pass (admit checks their versions), unknown ones get a 503.
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { hashSecret, looksLikeKey } from '@llm0/core/keys/key-secret';
import type { Services } from '../../services/contract';
import { type Authenticated, checkPrincipal, invalidKey, loadPrincipal } from './load-principal';

/** Bearer, `x-api-key` or `x-goog-api-key` → key and project. */
export function authenticate(
  services: Pick<Services, 'keyCache' | 'clock'>,
  request: Pick<Request, 'headers'>,
): Authenticated | Promise<Authenticated> {
  const secret = readSecret(request.headers);
  if (!looksLikeKey(secret)) throw invalidKey();
  const keyHash = hashSecret(secret);
  const cached = services.keyCache.peek(keyHash);
  if (cached !== undefined) return { ...checkPrincipal(cached, services.clock.nowMs()), keyHash };
  return loadPrincipal(services, keyHash);
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

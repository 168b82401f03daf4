// Postgres unreachable: keys known to this process pass (admit checks their versions), unknown ones get a 503.
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { hashSecret } from '@llm0/core/keys/key-secret';
import type { Services } from '../../services/contract';
import { type Authenticated, invalidKey, loadPrincipal, refreshPrincipal, refusalOf } from './load-principal';

/** Bearer, or the headers that vendors' own clients send → key and project. */
export function authenticate(
  services: Pick<Services, 'keyCache' | 'clock' | 'hotStore' | 'refreshTables' | 'legacyKeys'>,
  request: Pick<Request, 'headers'>,
): Authenticated | Promise<Authenticated> {
  const secret = readSecret(request.headers);
  if (!services.legacyKeys.mayBeKey(secret)) throw invalidKey();
  const keyHash = hashSecret(secret);
  const cached = services.keyCache.peek(keyHash);
  if (cached !== undefined) {
    const known = { ...cached, keyHash };
    const refusal = refusalOf(cached, services.clock.nowMs());
    return refusal === undefined ? known : refreshPrincipal(services, known, refusal);
  }
  return loadPrincipal(services, keyHash, secret);
}

function readSecret(headers: Headers): string {
  const authorization = headers.get('authorization');
  const bearer = authorization === null ? undefined : /^bearer\s+(\S+)\s*$/i.exec(authorization)?.[1];
  const secret = bearer ?? headers.get('x-api-key') ?? headers.get('x-goog-api-key') ?? headers.get('api-key');
  if (secret === null || secret === '') {
    throw new GatewayError(
      'missing_api_key',
      'No API key was sent. Put it in the header "Authorization: Bearer llm0_live_…".',
    );
  }
  return secret;
}

// Postgres unreachable: keys known to this process pass (admit checks their versions), unknown ones get a 503.
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { hashSecret } from '@llm0/core/keys/key-secret';
import type { Services } from '../../services/contract';
import { type Authenticated, invalidKey, loadPrincipal, refreshPrincipal, refusalOf } from './load-principal';

type Needs = Pick<Services, 'keyCache' | 'clock' | 'hotStore' | 'refreshTables' | 'legacyKeys' | 'accessTokens'>;

/** A key that an operator chose to send with, instead of credentials in the request, and the request's id. */
export interface ChosenKey {
  readonly keyHash: string;
  readonly requestId: string;
  /** For lines of batches; the formats that tell their own keep it. */
  readonly modality?: 'batch';
  /** A vendor has answered it: see `RequestContext`. */
  readonly isSpent?: true | undefined;
}

/** Key, or a token of an identity provider, as a bearer or in a header of vendors' own clients → key and project. */
export function authenticate(
  services: Needs,
  request: Pick<Request, 'headers'>,
  chosen?: ChosenKey,
): Authenticated | Promise<Authenticated> {
  if (chosen !== undefined) return authenticateHash(services, chosen.keyHash);
  const secret = readSecret(request.headers);
  const ofToken = secret.startsWith(TOKEN_START) ? services.accessTokens.find(secret, request.headers) : undefined;
  if (ofToken !== undefined) {
    return authenticateToken(services, ofToken, () => services.accessTokens.forget(secret, request.headers));
  }
  if (!services.legacyKeys.mayBeKey(secret)) throw invalidKey();
  return authenticateHash(services, hashSecret(secret), secret);
}

/** Of every JWT: the header is JSON in base64. */
const TOKEN_START = 'eyJ';

/** `forget`: a key that no longer works is looked for again, which says why. */
async function authenticateToken(
  services: Needs,
  found: string | Promise<string>,
  forget: () => void,
): Promise<Authenticated> {
  const keyHash = await found;
  try {
    return await authenticateHash(services, keyHash);
  } catch (error) {
    forget();
    throw error;
  }
}

function authenticateHash(services: Needs, keyHash: string, secret?: string): Authenticated | Promise<Authenticated> {
  const known = services.keyCache.peek(keyHash);
  if (known === undefined) return loadPrincipal(services, keyHash, secret);
  const refusal = refusalOf(known, services.clock.nowMs());
  return refusal === undefined ? known : refreshPrincipal(services, known, refusal);
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

// Postgres unreachable: keys known to this process pass (admit checks their versions), unknown ones get a 503.
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { hashSecret, looksLikeKey, type Principal } from '@llm0/core/keys/api-key';
import type { KnownPrincipal } from '@llm0/core/keys/key-cache';
import type { StalePart } from '@llm0/core/limits/hot-store';
import type { Services } from '../../services/contract';

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
  if (!looksLikeKey(secret) && !services.legacyKeys.mayBeKey(secret)) throw invalidKey();
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

type Loading = Pick<Services, 'keyCache' | 'clock'>;

/** The hash is for reloading it. */
export type Authenticated = KnownPrincipal;

/** Loads by a key's hash, possibly from memory; a legacy key has one after its first use. */
export function loadPrincipal(
  services: Loading & Pick<Services, 'legacyKeys'>,
  keyHash: string,
  secret?: string,
): Promise<Authenticated> {
  const find = async () => {
    const found = await services.keyCache.find(keyHash);
    if (found !== null || secret === undefined || !(await services.legacyKeys.adopt(secret, keyHash))) return found;
    return services.keyCache.reload(keyHash);
  };
  return checkFound(services, find());
}

/** Loads the key again after the hot store called it out of date. */
export function reloadPrincipal(services: Loading, keyHash: string): Promise<Authenticated> {
  return checkFound(services, services.keyCache.reload(keyHash));
}

async function checkFound({ clock }: Loading, search: Promise<Authenticated | null>): Promise<Authenticated> {
  const found = await search.catch((cause: unknown) => {
    const message = 'The key store is unreachable. Retry shortly.';
    throw new GatewayError('store_unavailable', message, { retryAfterMs: 1000, cause });
  });
  if (found === null) throw invalidKey();
  const refusal = refusalOf(found, clock.nowMs());
  if (refusal !== undefined) throw refusal;
  return found;
}

export function invalidKey(): GatewayError {
  return new GatewayError('invalid_api_key', 'This API key is unknown or revoked. Check the key.');
}

/** Reason to refuse a key; undefined if valid. */
export function refusalOf({ key, project, secretEndsMs }: Principal, nowMs: number): GatewayError | undefined {
  if (!key.isActive && key.requestedAtMs != null) {
    return new GatewayError('permission_denied', 'This API key waits for approval. Ask an admin of your team.');
  }
  if (!key.isActive || (secretEndsMs !== undefined && secretEndsMs <= nowMs)) return invalidKey();
  if (key.isOwnerOut === true) {
    const message =
      'This API key\'s user may no longer have keys in its project. Ask an admin of the team for the role "member".';
    return new GatewayError('permission_denied', message);
  }
  if (key.expiresAtMs !== null && key.expiresAtMs <= nowMs) {
    return new GatewayError('key_expired', 'This API key has expired. Ask the operator for a new one.');
  }
  if (!project.isActive) {
    return new GatewayError(
      'project_inactive',
      'The project of this API key is inactive. The operator can activate it.',
    );
  }
  return undefined;
}

type Refreshing = Loading & Pick<Services, 'hotStore' | 'refreshTables'>;

/**
 * Reloads key, project and tables before a refusal without admission, because local data may be outdated. Throws the
 * refusal if nothing changed. Costs a look at the hot store; reads Postgres only after a change.
 */
export async function refreshPrincipal(
  services: Refreshing,
  known: Authenticated,
  refusal: GatewayError,
): Promise<Authenticated> {
  const stale = await findStale(services, known);
  if (stale.length === 0) throw refusal;
  return readStale(services, known, stale);
}

/** Current key, project and tables, for answers without admission. */
export async function latestPrincipal(services: Refreshing, known: Authenticated): Promise<Authenticated> {
  return readStale(services, known, await findStale(services, known));
}

async function readStale(
  services: Refreshing,
  known: Authenticated,
  stale: readonly StalePart[],
): Promise<Authenticated> {
  if (stale.includes('tables')) await services.refreshTables();
  if (!stale.includes('principal')) return known;
  const reload = services.keyCache.reload(known.keyHash).then(async (found) => {
    // Restores lost versions in the store: otherwise every refusal would query Postgres again.
    if (found !== null) await raiseVersions(services, found);
    return found;
  });
  return checkFound(services, reload);
}

function raiseVersions({ hotStore }: Refreshing, { key, project }: Principal): Promise<void> {
  return hotStore.setVersions(project.id, project.version, [{ keyId: key.id, version: key.version }]);
}

/** Current tables, for answers without admission. */
export async function refreshStaleTables(services: Refreshing, known: Authenticated): Promise<void> {
  if ((await findStale(services, known)).includes('tables')) await services.refreshTables();
}

/** Without the store, the local data counts. */
async function findStale({ hotStore }: Refreshing, { key, project }: Principal): Promise<readonly StalePart[]> {
  const versions = { projectVersion: project.version, keyVersion: key.version };
  try {
    return await hotStore.findStale({ projectId: project.id, keyId: key.id, ...versions });
  } catch (error) {
    if (error instanceof GatewayError && error.kind === 'store_unavailable') return [];
    throw error;
  }
}

// Postgres unreachable: the token from the environment still opens, named tokens and sessions get 503.
import { timingSafeEqual } from 'node:crypto';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { hashSecret } from '@llm0/core/keys/api-key';
import { findAdminSession } from '@llm0/drizzle/queries/access/admin-sessions';
import { findAdminToken } from '@llm0/drizzle/queries/access/admin-tokens';
import { addAuditEntry } from '@llm0/drizzle/queries/access/audit-trail';
import type { Context, MiddlewareHandler } from 'hono';
import type { Actor, AdminEnv, AdminServices } from '../admin-services';
import { tokenActor, userActor } from './actors';
import { looksLikeAdminToken } from './admin-token';
import { refuseCrossSite } from './refuse-cross-site';
import { readSessionCookie } from './session-cookie';
import type { SignInThrottle } from './sign-in-throttle';

type Needs = Pick<AdminServices, 'db' | 'config' | 'ownToken'>;

/** `tokenId` null for ADMIN_TOKEN. */
export interface TokenOwner extends Actor {
  readonly tokenId: string | null;
  readonly hash: string;
}

const ENVIRONMENT_ACTOR: Actor = tokenActor('ADMIN_TOKEN', 'admin', true);
const OWN_ACTOR: Actor = tokenActor('GATEWAY_CONFIG', 'admin', false);

/** Requires an admin token or the dashboard's session. Too many wrong tokens: 429. Signing in needs neither. */
export function authenticateAdmin(services: Needs, throttle: SignInThrottle): MiddlewareHandler<AdminEnv> {
  return async (c, next) => {
    const isSession = c.get('isSession') === true;
    if (isSession && c.req.method === 'POST') return next();
    const authorization = c.req.header('authorization');
    const actor =
      authorization === undefined
        ? await actorOfSession(services, c)
        : await throttle.attempt(c.get('address'), hashSecret(authorization), () =>
            actorOfToken(services, authorization),
          );
    if (actor === undefined) throw authorization === undefined ? notSignedIn() : wrongToken();
    if (services.config.signOn.isRequired && actor.name === ENVIRONMENT_ACTOR.name && actor.tokenId === null) {
      await noteBreakGlass(services, c);
    }
    c.set('actor', actor);
    c.set('whoAsks', () =>
      authorization === undefined ? actorOfSession(services, c) : actorOfToken(services, authorization),
    );
    await next();
  };
}

async function actorOfToken(services: Needs, authorization: string): Promise<Actor | undefined> {
  const token = /^Bearer +(\S+) *$/i.exec(authorization)?.[1];
  const owner = token === undefined ? undefined : await findTokenOwner(services, token);
  if (owner === undefined) return undefined;
  const { hash: _, ...actor } = owner;
  return actor;
}

/** Compares with ADMIN_TOKEN in constant time, then looks for a named token. */
export async function findTokenOwner(services: Needs, token: string): Promise<TokenOwner | undefined> {
  const hash = hashSecret(token);
  if (isEnvironmentHash(services, hash)) return { ...ENVIRONMENT_ACTOR, tokenId: null, hash };
  if (isHashOf(services.ownToken, hash)) return { ...OWN_ACTOR, tokenId: null, hash };
  if (!looksLikeAdminToken(token)) return undefined;
  const found = await findAdminToken(services.db, hash);
  // Tokens of SCIM can do nothing here, not even sign in.
  if (found === null || found.role === 'scim') return undefined;
  return { ...tokenActor(found.name, found.role, found.canReadBodies), tokenId: found.id, hash };
}

async function actorOfSession(services: Needs, c: Context<AdminEnv>): Promise<Actor | undefined> {
  const cookie = readSessionCookie(c.req.header('cookie'));
  if (cookie === undefined) return undefined;
  refuseCrossSite(c.req.raw);
  const session = await findAdminSession(services.db, cookie.hash);
  if (session === null || session.token?.role === 'scim') return undefined;
  const { tokenId, token, user, expiresAtMs, authenticatedAtMs } = session;
  const opened = { session: { hash: cookie.hash, expiresAtMs, authenticatedAtMs } };
  if (user !== null) return { ...userActor(user), ...opened };
  if (services.config.signOn.isRequired) return undefined;
  if (token === null && !isEnvironmentHash(services, session.tokenHash)) return undefined;
  const owner = token === null ? ENVIRONMENT_ACTOR : tokenActor(token.name, token.role, token.canReadBodies);
  return { ...owner, tokenId, ...opened };
}

/** With OIDC_REQUIRED, each use of ADMIN_TOKEN is in the audit log, before it does anything. */
async function noteBreakGlass({ db }: Needs, c: Context<AdminEnv>): Promise<void> {
  const after = { method: c.req.method, path: c.req.path.slice(0, 500) };
  await addAuditEntry(db, {
    actor: ENVIRONMENT_ACTOR.name,
    action: 'use',
    resource: 'admin_token',
    resourceId: null,
    after,
  });
}

const isEnvironmentHash = ({ config }: Needs, hash: string): boolean => isHashOf(config.adminToken, hash);

function isHashOf(token: string | undefined, hash: string): boolean {
  if (token === undefined) return false;
  return timingSafeEqual(Buffer.from(hash, 'hex'), Buffer.from(hashSecret(token), 'hex'));
}

/** A request without a token isn't a guess and isn't counted. */
function notSignedIn(): GatewayError {
  const message = 'Sign in, or send the admin token as "Authorization: Bearer <ADMIN_TOKEN>".';
  return new GatewayError('missing_api_key', message);
}

export function wrongToken(): GatewayError {
  const message = 'This admin token is not valid. API keys and SCIM tokens do not sign in here.';
  return new GatewayError('invalid_api_key', message);
}

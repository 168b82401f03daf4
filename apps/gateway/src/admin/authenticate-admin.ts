// Postgres unreachable: the token from the environment still opens, named tokens get 503.
import { timingSafeEqual } from 'node:crypto';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { hashSecret } from '@llm0/core/keys/key-secret';
import { findAdminToken } from '@llm0/drizzle/queries/admin-tokens';
import type { MiddlewareHandler } from 'hono';
import type { Actor, AdminEnv, AdminServices } from './admin-services';
import { looksLikeAdminToken } from './admin-token';
import { SignInThrottle } from './sign-in-throttle';

type Needs = Pick<AdminServices, 'db' | 'config' | 'clock'>;

const READS = new Set(['GET', 'HEAD']);

/** Lets in who brings an admin token; viewers only for reading. Too many wrong ones from an address: 429. */
export function authenticateAdmin(services: Needs): MiddlewareHandler<AdminEnv> {
  const throttle = new SignInThrottle(() => services.clock.monotonicMs());
  return async (c, next) => {
    const actor = await findActor(services, c.req.header('authorization'));
    if (actor === undefined) throw refuseSignIn(throttle.fail(c.get('address')), c.req.header('authorization'));
    if (actor.role !== 'admin' && !READS.has(c.req.method)) {
      throw new GatewayError('permission_denied', 'This token may only read. Use one with the role admin.');
    }
    c.set('actor', actor);
    await next();
  };
}

async function findActor(services: Needs, authorization: string | undefined): Promise<Actor | undefined> {
  const token = /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
  if (token === undefined) return undefined;
  const hash = hashSecret(token);
  const { adminToken } = services.config;
  if (adminToken !== undefined && isSameHash(hash, hashSecret(adminToken)))
    return { name: 'ADMIN_TOKEN', role: 'admin' };
  if (!looksLikeAdminToken(token)) return undefined;
  const found = await findAdminToken(services.db, hash);
  return found === null ? undefined : { name: found.name, role: found.role };
}

function isSameHash(a: string, b: string): boolean {
  return timingSafeEqual(Buffer.from(a, 'hex'), Buffer.from(b, 'hex'));
}

function refuseSignIn(waitMs: number, authorization: string | undefined): GatewayError {
  if (waitMs > 0) {
    const message = 'Too many wrong sign-ins from this address. Wait, or use the right admin token.';
    return new GatewayError('rate_limit_exceeded', message, { param: 'client', retryAfterMs: waitMs });
  }
  if (authorization === undefined) {
    return new GatewayError('missing_api_key', 'Send the admin token as "Authorization: Bearer <ADMIN_TOKEN>".');
  }
  const message = 'This is not an admin token in force. Keys of the data plane do not open the admin API.';
  return new GatewayError('invalid_api_key', message);
}

// Postgres unreachable: 503.
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { hashSecret } from '@llm0/core/keys/api-key';
import { findAdminToken } from '@llm0/drizzle/queries/access/admin-tokens';
import type { MiddlewareHandler } from 'hono';
import { tokenActor } from '../access/actors';
import { looksLikeAdminToken } from '../access/admin-token';
import type { SignInThrottle } from '../access/sign-in-throttle';
import type { AdminEnv, AdminServices } from '../admin-services';

/** Takes tokens of the role `scim` alone: neither sessions nor tokens that may do more. Too many wrong ones: 429. */
export function authenticateScim(
  { db }: Pick<AdminServices, 'db'>,
  throttle: SignInThrottle,
): MiddlewareHandler<AdminEnv> {
  return async (c, next) => {
    const secret = /^Bearer +(\S+) *$/i.exec(c.req.header('authorization') ?? '')?.[1];
    if (secret === undefined) throw new GatewayError('missing_api_key', `Send ${WANTED} as a bearer token.`);
    const hash = hashSecret(secret);
    const find = async () =>
      looksLikeAdminToken(secret) ? ((await findAdminToken(db, hash)) ?? undefined) : undefined;
    const token = await throttle.attempt(c.get('address'), hash, find);
    if (token === undefined) throw new GatewayError('invalid_api_key', `This token is not valid. Send ${WANTED}.`);
    if (token.role !== 'scim') throw new GatewayError('permission_denied', `SCIM takes ${WANTED} only.`);
    c.set('actor', { ...tokenActor(token.name, token.role, false), tokenId: token.id });
    await next();
  };
}

const WANTED = 'an admin token of the role scim';

import { createRoute, z } from '@hono/zod-openapi';
import { hashSecret } from '@llm0/core/keys/key-secret';
import { createAdminSession, deleteAdminSession } from '@llm0/drizzle/queries/access/admin-sessions';
import { answers, createRouter, routesOf, takes } from '../admin-router';
import type { AdminServices } from '../admin-services';
import { recordChange } from '../audit/record-change';
import { instantShown } from '../fields/fields';
import { showInstantOrNull } from '../fields/show-fields';
import { findTokenOwner, wrongToken } from './authenticate-admin';
import { refuseCrossSite } from './refuse-cross-site';
import { createSessionSecret, writeSessionCookie } from './session-cookie';
import type { SignInThrottle } from './sign-in-throttle';

const at = routesOf('session');
const SESSION_SECONDS = 24 * 3600;
const MAX_TOKEN_LENGTH = 1000;

const sessionSchema = z
  .object({
    name: z.string().openapi({ description: "The token's name" }),
    role: z.enum(['admin', 'viewer']),
    can_read_bodies: z.boolean().openapi({ description: 'Stored prompts and answers' }),
    expires_at: instantShown.nullable().openapi({ description: 'null for requests with a token' }),
    version: z.string(),
  })
  .openapi('Session');

const create = createRoute({
  ...at('post', '/session', 'Sign in with an admin token; sets a cookie for 24 h'),
  security: [],
  request: { body: takes(z.strictObject({ token: z.string().min(1).max(MAX_TOKEN_LENGTH) }).openapi('SignIn')) },
  responses: { 201: answers(sessionSchema, 'Show the current session') },
});
const show = createRoute({
  ...at('get', '/session', 'Show the current session'),
  responses: { 200: answers(sessionSchema, 'Show the current session') },
});
const remove = createRoute({
  ...at('delete', '/session', 'Sign out'),
  responses: { 204: { description: 'Signed out' } },
});

type Needs = Pick<AdminServices, 'db' | 'config' | 'clock' | 'version'>;

/** Sessions of the dashboard. They end after 24 h, on sign-out, and with their token. */
export function sessionRoutes(services: Needs, throttle: SignInThrottle) {
  const { db, clock, version } = services;
  return createRouter()
    .openapi(create, async (c) => {
      refuseCrossSite(c.req.raw);
      const { token } = c.req.valid('json');
      const find = () => findTokenOwner(services, token);
      const owner = await throttle.attempt(c.get('address'), hashSecret(token), find);
      if (owner === undefined) throw wrongToken();
      const { secret, hash: sessionHash } = createSessionSecret();
      const expiresAtMs = clock.nowMs() + SESSION_SECONDS * 1000;
      const { name, role, canReadBodies, tokenId, hash: tokenHash } = owner;
      await recordChange(db, owner, async (tx) => {
        await createAdminSession(tx, { sessionHash, tokenHash, tokenId, expiresAtMs });
        return { result: null, action: 'sign_in', resource: 'session', resourceId: null };
      });
      c.header('Set-Cookie', writeSessionCookie(c.req.raw, secret, SESSION_SECONDS));
      const expires = { expires_at: showInstantOrNull(expiresAtMs) };
      return c.json({ name, role, can_read_bodies: canReadBodies, ...expires, version }, 201);
    })
    .openapi(show, (c) => {
      const { name, role, canReadBodies, session } = c.get('actor');
      const expires = { expires_at: showInstantOrNull(session?.expiresAtMs ?? null) };
      return c.json({ name, role, can_read_bodies: canReadBodies, ...expires, version }, 200);
    })
    .openapi(remove, async (c) => {
      const { session } = c.get('actor');
      if (session !== undefined) await deleteAdminSession(db, session.hash);
      c.header('Set-Cookie', writeSessionCookie(c.req.raw, '', 0));
      return c.body(null, 204);
    });
}

import { z } from '@hono/zod-openapi';
import { PERMISSIONS } from '@llm0/core/access/roles';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { hashSecret } from '@llm0/core/keys/api-key';
import { createAdminSession, deleteAdminSession } from '@llm0/drizzle/queries/access/admin-sessions';
import { answers, createRouter, defineRoute, routesOf, takes } from '../admin-router';
import type { Actor, AdminServices } from '../admin-services';
import { recordChange } from '../audit/record-change';
import { id, instantShown } from '../fields/fields';
import { showInstantOrNull } from '../fields/show-fields';
import { findTokenOwner, wrongToken } from './authenticate-admin';
import { refuseCrossSite } from './refuse-cross-site';
import { createSessionSecret, SESSION_SECONDS, writeSessionCookie } from './session-cookie';
import type { SignInThrottle } from './sign-in-throttle';

const at = routesOf('session');
const MAX_TOKEN_LENGTH = 1000;

const sessionUserSchema = z.object({ id, name: z.string(), email: z.string().nullable() }).openapi('SessionUser');

const sessionSchema = z
  .object({
    name: z.string().openapi({ description: "The token's name" }),
    role: z.enum(['admin', 'viewer']).openapi({ description: 'admin: may change everything' }),
    can_read_bodies: z.boolean().openapi({ description: 'Stored prompts and answers' }),
    permissions: z.array(z.enum(PERMISSIONS)).openapi({ description: 'Held everywhere, or in at least one team' }),
    is_everywhere: z.boolean().openapi({ description: 'false: only in own teams' }),
    user: sessionUserSchema.nullable().openapi({ description: 'null for tokens' }),
    expires_at: instantShown.nullable().openapi({ description: 'null for requests with a token' }),
    version: z.string(),
  })
  .openapi('Session');

const create = defineRoute({
  ...at('post', '/session', 'Sign in with an admin token; sets a cookie for 24 h'),
  security: [],
  request: { body: takes(z.strictObject({ token: z.string().min(1).max(MAX_TOKEN_LENGTH) }).openapi('SignIn')) },
  responses: { 201: answers(sessionSchema, 'Show the current session') },
});
const show = defineRoute({
  ...at('get', '/session', 'Show the current session'),
  responses: { 200: answers(sessionSchema, 'Show the current session') },
});
const remove = defineRoute({
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
      if (services.config.signOn.isRequired) throw tokensAreForPrograms();
      const { token } = c.req.valid('json');
      const find = () => findTokenOwner(services, token);
      const owner = await throttle.attempt(c.get('address'), hashSecret(token), find);
      if (owner === undefined) throw wrongToken();
      const { secret, hash: sessionHash } = createSessionSecret();
      const expiresAtMs = clock.nowMs() + SESSION_SECONDS * 1000;
      const { tokenId, hash: tokenHash } = owner;
      await recordChange(db, owner, async (tx) => {
        await createAdminSession(tx, { sessionHash, tokenHash, tokenId, expiresAtMs });
        return { result: null, action: 'sign_in', resource: 'session', resourceId: null };
      });
      c.header('Set-Cookie', writeSessionCookie(c.req.raw, secret, SESSION_SECONDS));
      return c.json(showSession(owner, { expiresAtMs, version }), 201);
    })
    .openapi(show, (c) => {
      const actor = c.get('actor');
      return c.json(showSession(actor, { expiresAtMs: actor.session?.expiresAtMs ?? null, version }), 200);
    })
    .openapi(remove, async (c) => {
      const { session } = c.get('actor');
      if (session !== undefined) await deleteAdminSession(db, session.hash);
      c.header('Set-Cookie', writeSessionCookie(c.req.raw, '', 0));
      return c.body(null, 204);
    });
}

function showSession(
  actor: Actor,
  { expiresAtMs, version }: { readonly expiresAtMs: number | null; readonly version: string },
): z.output<typeof sessionSchema> {
  const { name, access, user } = actor;
  return {
    name,
    role: access.mayEverywhere('change_system') ? 'admin' : 'viewer',
    can_read_bodies: access.maySomewhere('read_bodies'),
    permissions: PERMISSIONS.filter((permission) => access.maySomewhere(permission)),
    is_everywhere: access.mayEverywhere('see'),
    user: user === undefined ? null : { id: user.id, name: user.name, email: user.email },
    ...{ expires_at: showInstantOrNull(expiresAtMs), version },
  };
}

function tokensAreForPrograms(): GatewayError {
  const message = 'Sign in with your identity provider. Admin tokens work for the API and the command line only.';
  return new GatewayError('permission_denied', message);
}

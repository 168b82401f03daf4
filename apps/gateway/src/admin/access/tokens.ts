import { createRoute, z } from '@hono/zod-openapi';
import { countSessions } from '@llm0/drizzle/queries/access/admin-sessions';
import { type AdminToken, mayReadBodies, revokeAdminToken, tokenRows } from '@llm0/drizzle/queries/access/admin-tokens';
import { answers, createRouter, routesOf, takes } from '../admin-router';
import type { AdminServices } from '../admin-services';
import { AuditedChanges } from '../audit/audited-changes';
import { recordChange } from '../audit/record-change';
import { id, instant, instantShown, pageOf, pageQuery, showPage, text } from '../fields/fields';
import { required } from '../fields/find-or-refuse';
import { readFields, showFields } from '../fields/map-fields';
import { createAdminSecret } from './admin-token';

const at = routesOf('tokens');
const role = z.enum(['admin', 'viewer']);

const newTokenSchema = z
  .strictObject({
    name: text(),
    role: role.default('admin'),
    can_read_bodies: z
      .boolean()
      .nullish()
      .openapi({ description: 'May read stored prompts and answers; default: admins yes, viewers no' }),
    expires_at: instant.nullish(),
  })
  .openapi('NewToken');
const shown = z.object({
  id,
  name: z.string(),
  role,
  can_read_bodies: z.boolean(),
  prefix: z.string(),
  created_at: instantShown,
  expires_at: instantShown.nullable(),
});
const tokenSchema = shown.openapi('Token');
const listedTokenSchema = shown
  .extend({ open_sessions: z.int().openapi({ description: 'Open dashboard sessions' }) })
  .openapi('ListedToken');
const tokenWithSecretSchema = shown
  .extend({ token: z.string().openapi({ description: 'The secret, shown once; the gateway stores only its SHA-256' }) })
  .openapi('TokenWithSecret');

const create = createRoute({
  ...at('post', '/tokens', 'Create an admin token; the secret is shown once'),
  request: { body: takes(newTokenSchema) },
  responses: { 201: answers(tokenWithSecretSchema, 'The new token with its secret') },
});
const list = createRoute({
  ...at('get', '/tokens', 'List active admin tokens, newest first'),
  request: { query: z.strictObject(pageQuery) },
  responses: { 200: answers(pageOf(listedTokenSchema), 'Tokens') },
});
const show = createRoute({
  ...at('get', '/tokens/{id}', 'Show an admin token, without the secret'),
  request: { params: z.object({ id }) },
  responses: { 200: answers(tokenSchema, 'The token') },
});
const remove = createRoute({
  ...at('delete', '/tokens/{id}', 'Revoke an admin token'),
  request: { params: z.object({ id }) },
  responses: { 204: { description: 'Revoked' } },
});

export function tokenRoutes({ db }: Pick<AdminServices, 'db'>) {
  const changes = new AuditedChanges(db, { resource: 'token', idOf: (token) => token.id, show: showToken });
  return createRouter()
    .openapi(create, async (c) => {
      const { secret, ...parts } = createAdminSecret();
      const settings = { ...readFields(c.req.valid('json')), ...parts };
      const token = await changes.create(c.get('actor'), (tx) => tokenRows.create(tx, settings));
      return c.json({ ...showToken(token), token: secret }, 201);
    })
    .openapi(list, async (c) => {
      const page = await tokenRows.list(db, c.req.valid('query'));
      const ids = page.data.map((token) => token.id);
      const sessions = await countSessions(db, ids);
      const shown = (token: AdminToken) => ({ ...showToken(token), open_sessions: sessions.get(token.id) ?? 0 });
      return c.json(showPage(page, shown), 200);
    })
    .openapi(show, async (c) => {
      return c.json(showToken(required(await tokenRows.get(db, c.req.valid('param')), 'admin token')), 200);
    })
    .openapi(remove, async (c) => {
      const { id: resourceId } = c.req.valid('param');
      await recordChange(db, c.get('actor'), async (tx) => {
        const before = showToken(required(await tokenRows.get(tx, { id: resourceId }), 'admin token'));
        await revokeAdminToken(tx, resourceId);
        return { result: null, action: 'delete', resource: 'token', resourceId, before };
      });
      return c.body(null, 204);
    });
}

const showToken = (token: AdminToken) => showFields(tokenSchema, { ...token, canReadBodies: mayReadBodies(token) });

import { createRoute, z } from '@hono/zod-openapi';
import { type AdminToken, revokeAdminToken, tokenRows } from '@llm0/drizzle/queries/access/admin-tokens';
import { answers, createRouter, routesOf, takes } from '../admin-router';
import type { AdminServices } from '../admin-services';
import { AuditedChanges } from '../audit/audited-changes';
import { recordChange } from '../audit/record-change';
import { id, instant, instantShown, pageOf, pageQuery, showPage, text } from '../fields/fields';
import { notFound } from '../fields/find-or-refuse';
import { readFields, showFields } from '../fields/map-fields';
import { createAdminSecret } from './admin-token';

const at = routesOf('tokens');
const role = z.enum(['admin', 'viewer']);

const newTokenSchema = z
  .strictObject({ name: text(), role: role.default('admin'), expires_at: instant.nullish() })
  .openapi('NewToken');
const shown = z.object({
  id,
  name: z.string(),
  role,
  prefix: z.string(),
  created_at: instantShown,
  expires_at: instantShown.nullable(),
});
const tokenSchema = shown.openapi('Token');
const tokenWithSecretSchema = shown
  .extend({ token: z.string().openapi({ description: 'The secret: shown this once, only its SHA-256 is kept' }) })
  .openapi('TokenWithSecret');

const create = createRoute({
  ...at('post', '/tokens', 'Make an admin token; the secret is shown this once'),
  request: { body: takes(newTokenSchema) },
  responses: { 201: answers(tokenWithSecretSchema, 'The new token with its secret') },
});
const list = createRoute({
  ...at('get', '/tokens', 'List admin tokens in force, newest first'),
  request: { query: z.strictObject(pageQuery) },
  responses: { 200: answers(pageOf(tokenSchema), 'Tokens') },
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
    .openapi(list, async (c) => c.json(showPage(await tokenRows.list(db, c.req.valid('query')), showToken), 200))
    .openapi(remove, async (c) => {
      const { id: resourceId } = c.req.valid('param');
      await recordChange(db, c.get('actor'), async (tx) => {
        if (!(await revokeAdminToken(tx, resourceId))) throw notFound('admin token');
        return { result: null, action: 'delete', resource: 'token', resourceId };
      });
      return c.body(null, 204);
    });
}

const showToken = (token: AdminToken) => showFields(tokenSchema, token);

import { createRoute, z } from '@hono/zod-openapi';
import {
  type AdminToken,
  createAdminToken,
  listAdminTokens,
  revokeAdminToken,
} from '@llm0/drizzle/queries/access/admin-tokens';
import { answers, createRouter, routesOf, takes } from '../admin-router';
import type { AdminServices } from '../admin-services';
import { recordChange } from '../audit/record-change';
import { id, instant, instantShown, pageOf, pageQuery, showPage, text } from '../fields/fields';
import { notFound } from '../fields/find-or-refuse';
import { showInstant, showInstantOrNull } from '../fields/show-fields';
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
  return createRouter()
    .openapi(create, async (c) => {
      const { name, role, expires_at: expiresAtMs } = c.req.valid('json');
      const { secret, ...parts } = createAdminSecret();
      const token = await recordChange(db, c.get('actor'), async (tx) => {
        const result = await createAdminToken(tx, { name, role, expiresAtMs, ...parts });
        return { result, action: 'create', resource: 'token', resourceId: result.id, after: showToken(result) };
      });
      return c.json({ ...showToken(token), token: secret }, 201);
    })
    .openapi(list, async (c) => c.json(showPage(await listAdminTokens(db, c.req.valid('query')), showToken), 200))
    .openapi(remove, async (c) => {
      const { id: tokenId } = c.req.valid('param');
      await recordChange(db, c.get('actor'), async (tx) => {
        if (!(await revokeAdminToken(tx, tokenId))) throw notFound('admin token');
        return { result: null, action: 'delete', resource: 'token', resourceId: tokenId };
      });
      return c.body(null, 204);
    });
}

function showToken(token: AdminToken): z.output<typeof tokenSchema> {
  return {
    id: token.id,
    name: token.name,
    role: token.role,
    prefix: token.prefix,
    created_at: showInstant(token.createdAtMs),
    expires_at: showInstantOrNull(token.expiresAtMs),
  };
}

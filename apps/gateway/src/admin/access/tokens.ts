import { z } from '@hono/zod-openapi';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { Db } from '@llm0/drizzle/client';
import { countSessions } from '@llm0/drizzle/queries/access/admin-sessions';
import { type AdminToken, mayReadBodies, revokeAdminToken, tokenRows } from '@llm0/drizzle/queries/access/admin-tokens';
import { answers, createRouter, defineRoute, routesOf, takes } from '../admin-router';
import type { AdminServices } from '../admin-services';
import { AuditedChanges } from '../audit/audited-changes';
import { recordChange } from '../audit/record-change';
import { id, pageOf, pageQuery, showPage } from '../fields/fields';
import { required } from '../fields/find-or-refuse';
import { readFields, showFields } from '../fields/map-fields';
import { showInstantOrNull } from '../fields/show-fields';
import { adminSecretOf, createAdminSecret } from './admin-token';
import {
  listedTokenSchema,
  newTokenSchema,
  tokenChangesSchema,
  tokenSchema,
  tokenWithSecretSchema,
} from './token-schema';

const at = routesOf('tokens');
const create = defineRoute({
  ...at('post', '/tokens', 'Create an admin token; the secret is shown once'),
  request: { body: takes(newTokenSchema) },
  responses: { 201: answers(tokenWithSecretSchema, 'The new token with its secret') },
});
const list = defineRoute({
  ...at('get', '/tokens', 'List active admin tokens, newest first'),
  request: { query: z.strictObject(pageQuery) },
  responses: { 200: answers(pageOf(listedTokenSchema), 'Tokens') },
});
const show = defineRoute({
  ...at('get', '/tokens/{id}', 'Show an admin token, without the secret'),
  request: { params: z.object({ id }) },
  responses: { 200: answers(tokenSchema, 'The token') },
});
const change = defineRoute({
  ...at('patch', '/tokens/{id}', 'Change an admin token; applies from its next request'),
  request: { params: z.object({ id }), body: takes(tokenChangesSchema) },
  responses: { 200: answers(tokenSchema, 'The token as it is now') },
});
const remove = defineRoute({
  ...at('delete', '/tokens/{id}', 'Revoke an admin token'),
  request: { params: z.object({ id }) },
  responses: { 204: { description: 'Revoked' } },
});

export function tokenRoutes({ db }: Pick<AdminServices, 'db'>) {
  const changes = new AuditedChanges(db, {
    resource: 'token',
    what: 'admin token',
    idOf: (token) => token.id,
    show: showToken,
  });
  return createRouter()
    .openapi(create, async (c) => {
      const { token: given, ...body } = c.req.valid('json');
      const { secret, ...parts } = given === undefined ? createAdminSecret() : adminSecretOf(given);
      const settings = { ...readFields(body), ...parts };
      const token = await changes.create(c.get('actor'), (tx) => insertToken(tx, settings));
      return c.json({ ...showToken(token), token: secret }, 201);
    })
    .openapi(list, async (c) => {
      const page = await tokenRows.list(db, c.req.valid('query'));
      const ids = page.data.map((token) => token.id);
      const sessions = await countSessions(db, ids);
      const { tokenId } = c.get('actor');
      const shown = (token: AdminToken) => ({
        ...{ ...showToken(token), open_sessions: sessions.get(token.id) ?? 0, is_current: token.id === tokenId },
        last_used_at: showInstantOrNull(token.lastUsedAtMs),
      });
      return c.json(showPage(page, shown), 200);
    })
    .openapi(show, async (c) => {
      return c.json(showToken(required(await tokenRows.get(db, c.req.valid('param')), 'admin token')), 200);
    })
    .openapi(change, async (c) => {
      const at = c.req.valid('param');
      const fields = readFields(c.req.valid('json'));
      const find = (tx: Db) => tokenRows.get(tx, at);
      const token = await changes.update(c.get('actor'), find, (tx) => tokenRows.update(tx, at, fields));
      return c.json(showToken(token), 200);
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

/** Revoked tokens count: their secret must stay useless. */
async function insertToken(tx: Db, settings: Parameters<typeof tokenRows.create>[1]): Promise<AdminToken> {
  const made = await tokenRows.createUnlessThere(tx, settings);
  if (made !== null) return made;
  const message = 'token: a token with this secret exists, or existed and was revoked. Use another secret.';
  throw new GatewayError('conflict', message, { param: 'token' });
}

const showToken = (token: AdminToken) => showFields(tokenSchema, { ...token, canReadBodies: mayReadBodies(token) });

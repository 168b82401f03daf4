import { z } from '@hono/zod-openapi';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { Db } from '@llm0/drizzle/client';
import { deleteApiKey, type KeyPath, keyRows, type StoredApiKey } from '@llm0/drizzle/queries/access/api-keys';
import { answers, createRouter, defineRoute, routesOf } from '../admin-router';
import type { AdminServices } from '../admin-services';
import type { HotStoreMirror } from '../customers/hot-store-mirror';
import { id } from '../fields/fields';
import { boundsOfApproved, writeBounds } from './bounds';
import { createKeyChanges, findKey, keyPath } from './key-changes';
import { keySchema, showKey } from './schema';

const at = routesOf('keys');
const params = z.object({ id, key_id: id });
const PATH = '/projects/{id}/keys/{key_id}';

const approve = defineRoute({
  ...at('post', `${PATH}/approve`, 'Let a requested key work, from its next request'),
  request: { params },
  responses: { 200: answers(keySchema, 'The key as it is now') },
});
const refuse = defineRoute({
  ...at('post', `${PATH}/refuse`, 'Refuse a requested key; it is deleted'),
  request: { params },
  responses: { 204: { description: 'Refused' } },
});

/** Keys that wait for an admin of their team. */
export function keyApprovalRoutes(services: Pick<AdminServices, 'db' | 'hotStore'>, mirror: HotStoreMirror) {
  const changes = createKeyChanges(services, mirror);
  const find = (at: KeyPath) => async (tx: Db) => refuseDecided(await findKey(tx, at));
  return createRouter()
    .openapi(approve, async (c) => {
      const at = keyPath(c.req.valid('param'));
      const write = async (tx: Db) => {
        const key = await keyRows.update(tx, at, { isActive: true, requestedAtMs: null });
        return key && writeBounds(tx, key, boundsOfApproved(key));
      };
      return c.json(showKey(await changes.update(c.get('actor'), find(at), write, 'approve')), 200);
    })
    .openapi(refuse, async (c) => {
      const at = keyPath(c.req.valid('param'));
      // A deleted row is as if it were not there, so the deletion returns what it was.
      await changes.update(c.get('actor'), find(at), (tx) => deleteApiKey(tx, at), 'refuse');
      return c.body(null, 204);
    });
}

function refuseDecided(key: StoredApiKey | null): StoredApiKey | null {
  if (key === null || key.requestedAtMs !== null) return key;
  throw new GatewayError('conflict', "This key doesn't wait for approval.", { param: 'key_id' });
}

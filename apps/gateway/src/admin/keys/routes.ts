import { createRoute, z } from '@hono/zod-openapi';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { createKeySecret } from '@llm0/core/keys/key-secret';
import type { Db } from '@llm0/drizzle/client';
import {
  createApiKey,
  deleteApiKey,
  getApiKey,
  listApiKeys,
  listKeyNames,
  rotateApiKey,
  type StoredApiKey,
  updateApiKey,
} from '@llm0/drizzle/queries/access/api-keys';
import { loadKeyUsage } from '@llm0/drizzle/queries/access/key-usage';
import { answers, createRouter, routesOf, takes } from '../admin-router';
import type { Actor, AdminServices } from '../admin-services';
import { recordChange } from '../audit/record-change';
import type { HotStoreMirror } from '../customers/hot-store-mirror';
import { id, pageOf, pageQuery, showPage, text } from '../fields/fields';
import { required, requireProject } from '../fields/find-or-refuse';
import {
  keyChangesSchema,
  keySchema,
  keyWithSecretSchema,
  listedKeySchema,
  newKeySchema,
  showKey,
  showListedKey,
  toKeySettings,
  toNewKeySettings,
} from './schema';

const at = routesOf('keys');
const MAX_NAMES = 100;
const keyParams = z.object({ id, key_id: id });

const create = createRoute({
  ...at('post', '/projects/{id}/keys', 'Make a key; the secret is shown this once'),
  request: { params: z.object({ id }), body: takes(newKeySchema) },
  responses: { 201: answers(keyWithSecretSchema, 'The new key with its secret') },
});
const list = createRoute({
  ...at('get', '/projects/{id}/keys', "List the project's keys, newest first"),
  request: {
    params: z.object({ id }),
    query: z.strictObject({
      q: text(256).optional().openapi({ description: 'Part of the name or of the first characters' }),
      ...pageQuery,
    }),
  },
  responses: { 200: answers(pageOf(listedKeySchema), 'Keys, each with all it has been used for') },
});
const names = createRoute({
  ...at('get', '/key-names', 'Names of keys, deleted ones too, for the ids that statistics show'),
  request: {
    query: z.strictObject({
      ids: z
        .string()
        .max(MAX_NAMES * 37)
        .transform((value) => value.split(','))
        .pipe(z.array(id).max(MAX_NAMES))
        .openapi({ type: 'string', description: `Up to ${MAX_NAMES}, with commas between` }),
    }),
  },
  responses: {
    200: answers(z.object({ data: z.array(z.object({ id, project_id: id, name: z.string() })) }), 'Those there are'),
  },
});
const show = createRoute({
  ...at('get', '/projects/{id}/keys/{key_id}', 'Show a key'),
  request: { params: keyParams },
  responses: { 200: answers(keySchema, 'The key') },
});
const change = createRoute({
  ...at('patch', '/projects/{id}/keys/{key_id}', 'Change the fields sent; in force from the next request'),
  request: { params: keyParams, body: takes(keyChangesSchema) },
  responses: { 200: answers(keySchema, 'The key as it is now') },
});
const remove = createRoute({
  ...at('delete', '/projects/{id}/keys/{key_id}', 'Revoke a key; it is refused from the next request, its logs stay'),
  request: { params: keyParams },
  responses: { 204: { description: 'Revoked' } },
});
const rotate = createRoute({
  ...at(
    'post',
    '/projects/{id}/keys/{key_id}/rotate',
    'Give the key a new secret; the old one is refused from its next request',
  ),
  request: { params: keyParams },
  responses: { 201: answers(keyWithSecretSchema, 'The key with its new secret') },
});

type Needs = Pick<AdminServices, 'db' | 'hotStore'>;

export function keyRoutes(services: Needs, mirror: HotStoreMirror) {
  const { db, hotStore } = services;
  const setVersion = ({ projectId, id: keyId, version }: Pick<StoredApiKey, 'projectId' | 'id' | 'version'>) =>
    hotStore.setVersions(projectId, null, [{ keyId, version }]);
  const changeKey = createKeyChanger(services, mirror, setVersion);
  return createRouter()
    .openapi(create, async (c) => {
      const { id: projectId } = c.req.valid('param');
      const body = c.req.valid('json');
      const { secret, ...parts } = createKeySecret();
      const key = await recordChange(db, c.get('actor'), async (tx) => {
        await requireProject(tx, projectId);
        const result = await createApiKey(tx, { ...toNewKeySettings(body), ...parts, projectId, name: body.name });
        return { result, action: 'create', resource: 'key', resourceId: result.id, after: showKey(result) };
      });
      // A key the hot store has not heard of is loaded at its first request: the secret can be shown either way.
      await mirror.applyLater(`key ${key.id}`, () => setVersion(key));
      return c.json({ ...showKey(key), key: secret }, 201);
    })
    .openapi(list, async (c) => {
      const { id: projectId } = c.req.valid('param');
      await requireProject(db, projectId);
      const page = await listApiKeys(db, projectId, c.req.valid('query'));
      const ids = page.data.map((key) => key.id);
      const usage = await loadKeyUsage(db, ids);
      const shown = showPage(page, (key) => showListedKey(key, usage.get(key.id)));
      return c.json(shown, 200);
    })
    .openapi(names, async (c) => {
      const found = await listKeyNames(db, c.req.valid('query').ids);
      return c.json({ data: found.map(({ projectId, ...key }) => ({ ...key, project_id: projectId })) }, 200);
    })
    .openapi(show, async (c) => {
      const path = keyPath(c.req.valid('param'));
      await requireProject(db, path.projectId);
      return c.json(showKey(required(await getApiKey(db, path), 'key')), 200);
    })
    .openapi(change, async (c) => {
      const path = keyPath(c.req.valid('param'));
      const body = c.req.valid('json');
      const write = (tx: Db) => updateApiKey(tx, path, { name: body.name, ...toKeySettings(body) });
      return c.json(showKey(await changeKey(c.get('actor'), path, { action: 'update', write })), 200);
    })
    .openapi(remove, async (c) => {
      const path = keyPath(c.req.valid('param'));
      await changeKey(c.get('actor'), path, { action: 'delete', write: (tx) => deleteApiKey(tx, path) });
      return c.body(null, 204);
    })
    .openapi(rotate, async (c) => {
      const path = keyPath(c.req.valid('param'));
      const { secret, ...parts } = createKeySecret();
      await refuseWithoutStore(services);
      const key = await changeKey(c.get('actor'), path, {
        action: 'rotate',
        write: (tx) => rotateApiKey(tx, path, parts),
      });
      return c.json({ ...showKey(key), key: secret }, 201);
    });
}

interface KeyChange {
  readonly action: 'update' | 'delete' | 'rotate';
  write(tx: Db): Promise<StoredApiKey | null>;
}

/** Changes one key: audited in the same transaction, then in force everywhere. */
function createKeyChanger({ db }: Needs, mirror: HotStoreMirror, setVersion: (key: StoredApiKey) => Promise<void>) {
  return async (actor: Actor, path: ReturnType<typeof keyPath>, { action, write }: KeyChange) => {
    const key = await recordChange(db, actor, async (tx) => {
      await requireProject(tx, path.projectId);
      const before = showKey(required(await getApiKey(tx, path), 'key'));
      const result = required(await write(tx), 'key');
      const after = action === 'delete' ? {} : { after: showKey(result) };
      return { result, action, resource: 'key', resourceId: path.keyId, before, ...after };
    });
    await mirror.apply(`key ${key.id}`, () => setVersion(key));
    return key;
  };
}

const keyPath = (param: { id: string; key_id: string }) => ({ projectId: param.id, keyId: param.key_id });

/** A rotation that is saved but cannot be answered with 200 would lose the new secret: so it is not begun. */
async function refuseWithoutStore(services: Needs): Promise<void> {
  const health = await services.hotStore.health();
  if (health.ok) return;
  const message =
    'The hot store cannot be reached, so the old secret could not be refused. Nothing was changed; try again.';
  throw new GatewayError('store_unavailable', message, { retryAfterMs: 1000 });
}

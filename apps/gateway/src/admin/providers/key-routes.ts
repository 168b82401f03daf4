import { createRoute, z } from '@hono/zod-openapi';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import {
  createProviderKey,
  deleteProviderKey,
  getProviderKey,
  listProviderKeys,
  type StoredProviderKey,
  updateProviderKey,
} from '@llm0/drizzle/queries/routing/provider-keys';
import { getProvider } from '@llm0/drizzle/queries/routing/providers';
import type { ProbeOutcome } from '@llm0/providers/probe-provider';
import { answers, createRouter, routesOf, takes } from '../admin-router';
import type { AdminServices } from '../admin-services';
import { recordChange } from '../audit/record-change';
import { bringTablesIntoForce, type HotStoreMirror } from '../customers/hot-store-mirror';
import { id, pageQuery, showPage } from '../fields/fields';
import { notFound, required, requireProject } from '../fields/find-or-refuse';
import {
  newProviderKeySchema,
  providerKeyChangesSchema,
  providerKeyPage,
  providerKeySchema,
  providerName,
  providerTestResultSchema,
  providerTestSchema,
  showProviderKey,
} from './schema';
import { sealKey } from './seal-secret';

const at = routesOf('providers');
const params = z.object({ name: providerName });
const keyParams = z.object({ name: providerName, key_id: id });

const create = createRoute({
  ...at(
    'post',
    '/providers/{name}/keys',
    'Store a key for everybody or for one project; live at once, never shown again',
  ),
  request: { params, body: takes(newProviderKeySchema) },
  responses: { 201: answers(providerKeySchema, 'The key, without its secret') },
});
const list = createRoute({
  ...at('get', '/providers/{name}/keys', "List a provider's stored keys, newest first"),
  request: { params, query: z.strictObject({ project_id: id.optional(), ...pageQuery }) },
  responses: { 200: answers(providerKeyPage, 'Keys, without their secrets') },
});
const change = createRoute({
  ...at('patch', '/providers/{name}/keys/{key_id}', 'Change the fields sent; a new `key` starts with a clean slate'),
  request: { params: keyParams, body: takes(providerKeyChangesSchema) },
  responses: { 200: answers(providerKeySchema, 'The key as it is now') },
});
const remove = createRoute({
  ...at('delete', '/providers/{name}/keys/{key_id}', 'Delete a stored key; it is not used from now on'),
  request: { params: keyParams },
  responses: { 204: { description: 'Deleted' } },
});
const test = createRoute({
  ...at('post', '/providers/{name}/test', 'Ask the provider one real thing and tell how it went'),
  request: { params, body: takes(providerTestSchema) },
  responses: { 200: answers(providerTestResultSchema, 'How it went; `ok: false` is an answer too') },
});

type Needs = Pick<AdminServices, 'db' | 'hotStore' | 'reloadTables' | 'providerAdmin'>;

export function providerKeyRoutes(services: Needs, mirror: HotStoreMirror) {
  const { db, providerAdmin: desk } = services;
  const goLive = () => bringTablesIntoForce(services, mirror);
  const shown = (key: StoredProviderKey) => showProviderKey(key, desk.keyState(key));
  return createRouter()
    .openapi(create, async (c) => {
      const { name: provider } = c.req.valid('param');
      const { key: secret, name = 'default', project_id: projectId = null } = c.req.valid('json');
      await requireProvider(services, provider);
      const stored = await recordChange(db, c.get('actor'), async (tx) => {
        if (projectId !== null) await requireProject(tx, projectId);
        const keyId = crypto.randomUUID();
        const sealed = sealKey(desk.vault, secret, keyId);
        const result = await createProviderKey(tx, { id: keyId, provider, projectId, name, ...sealed });
        return { result, action: 'create', ...auditName(result), after: shown(result) };
      });
      await goLive();
      return c.json(shown(stored), 201);
    })
    .openapi(list, async (c) => {
      const { name } = c.req.valid('param');
      const { project_id: projectId, ...page } = c.req.valid('query');
      await requireProvider(services, name);
      return c.json(showPage(await listProviderKeys(db, name, { ...page, projectId }), shown), 200);
    })
    .openapi(change, async (c) => {
      const { name: provider, key_id: keyId } = c.req.valid('param');
      const { key: secret, name, is_active: isActive } = c.req.valid('json');
      const stored = await recordChange(db, c.get('actor'), async (tx) => {
        const before = shown(required(await getProviderKey(tx, { provider, keyId }), 'key'));
        const sealed = secret === undefined ? {} : sealKey(desk.vault, secret, keyId);
        const changes = { ...(name === undefined ? {} : { name }), ...(isActive === undefined ? {} : { isActive }) };
        const result = required(await updateProviderKey(tx, { provider, keyId }, { ...changes, ...sealed }), 'key');
        return { result, action: 'update', ...auditName(result), before, after: shown(result) };
      });
      await goLive();
      return c.json(shown(stored), 200);
    })
    .openapi(remove, async (c) => {
      const { name: provider, key_id: keyId } = c.req.valid('param');
      await recordChange(db, c.get('actor'), async (tx) => {
        const key = required(await getProviderKey(tx, { provider, keyId }), 'key');
        if (!(await deleteProviderKey(tx, { provider, keyId }))) throw notFound('key');
        return { result: null, action: 'delete', ...auditName(key), before: shown(key) };
      });
      await goLive();
      return c.body(null, 204);
    })
    .openapi(test, async (c) => {
      const { name } = c.req.valid('param');
      const { model, key_id: keyId, project_id: projectId } = c.req.valid('json');
      await requireProvider(services, name);
      const key =
        keyId === undefined ? undefined : required(await getProviderKey(db, { provider: name, keyId }), 'key');
      const outcome = await desk.test(name, { key, projectId, model });
      if (outcome === undefined) throw notConfigured(name);
      return c.json({ provider: name, model: model ?? null, ...showTest(outcome) }, 200);
    });
}

const showTest = ({ error, check, status, latencyMs }: ProbeOutcome) => ({
  ok: error === undefined,
  check,
  http_status: status ?? null,
  latency_ms: Math.round(latencyMs),
  error: error === undefined ? null : { code: error.kind, failure: error.failure ?? null, message: error.message },
});

const auditName = ({ id: keyId, provider }: StoredProviderKey) => ({
  resource: 'provider_key',
  resourceId: `${provider}/${keyId}`,
});

async function requireProvider({ db, providerAdmin }: Needs, name: string): Promise<void> {
  const isKnown = providerAdmin.vendors().some((vendor) => vendor.name === name);
  if (!isKnown && (await getProvider(db, name)) === null) throw notFound('provider');
}

function notConfigured(name: string): GatewayError {
  const message = `"${name}" is not configured: store a key for it, give it one by the environment, or make it active.`;
  return new GatewayError('conflict', message);
}

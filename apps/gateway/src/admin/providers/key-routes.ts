import { z } from '@hono/zod-openapi';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { Db } from '@llm0/drizzle/client';
import { providerKeyRows, type StoredProviderKey } from '@llm0/drizzle/queries/routing/provider-keys';
import { providerRows } from '@llm0/drizzle/queries/routing/providers';
import type { ProbeOutcome } from '@llm0/providers/probe-provider';
import { answers, createRouter, defineRoute, routesOf, takes } from '../admin-router';
import type { AdminServices } from '../admin-services';
import { AuditedChanges } from '../audit/audited-changes';
import { bringTablesIntoForce, type HotStoreMirror } from '../customers/hot-store-mirror';
import { id, pageQuery, providerName, showPage } from '../fields/fields';
import { notFound, required, requireProject } from '../fields/find-or-refuse';
import { readFields } from '../fields/map-fields';
import {
  newProviderKeySchema,
  providerKeyChangesSchema,
  providerKeyPage,
  providerKeySchema,
  providerTestResultSchema,
  providerTestSchema,
  showProviderKey,
} from './schema';
import { sealKey } from './seal-secret';

const at = routesOf('providers');
const params = z.object({ name: providerName });
const keyParams = z.object({ name: providerName, key_id: id });

const create = defineRoute({
  ...at('post', '/providers/{name}/keys', 'Store a key for all projects or one; applies at once, never shown again'),
  request: { params, body: takes(newProviderKeySchema) },
  responses: { 201: answers(providerKeySchema, 'The key, without its secret') },
});
const list = defineRoute({
  ...at('get', '/providers/{name}/keys', "List a provider's stored keys, newest first"),
  request: { params, query: z.strictObject({ project_id: id.optional(), ...pageQuery }) },
  responses: { 200: answers(providerKeyPage, 'Keys, without their secrets') },
});
const show = defineRoute({
  ...at('get', '/providers/{name}/keys/{key_id}', 'Show a key, without the secret'),
  request: { params: keyParams },
  responses: { 200: answers(providerKeySchema, 'The key') },
});
const change = defineRoute({
  ...at('patch', '/providers/{name}/keys/{key_id}', 'Change the given fields; a new `key` resets its state'),
  request: { params: keyParams, body: takes(providerKeyChangesSchema) },
  responses: { 200: answers(providerKeySchema, 'The key as it is now') },
});
const remove = defineRoute({
  ...at('delete', '/providers/{name}/keys/{key_id}', 'Delete a stored key; applies at once'),
  request: { params: keyParams },
  responses: { 204: { description: 'Deleted' } },
});
const test = defineRoute({
  ...at('post', '/providers/{name}/test', 'Send one real request to the provider; an answer closes its breakers'),
  request: { params, body: takes(providerTestSchema) },
  responses: { 200: answers(providerTestResultSchema, 'How it went; `ok: false` is an answer too') },
});

type Needs = Pick<AdminServices, 'db' | 'hotStore' | 'reloadTables' | 'providerAdmin' | 'health'>;

export function providerKeyRoutes(services: Needs, mirror: HotStoreMirror) {
  const { db, providerAdmin: desk, health } = services;
  const shown = (key: StoredProviderKey) => showProviderKey(key, desk.keyState(key));
  const changes = new AuditedChanges(db, {
    resource: 'provider_key',
    what: 'key',
    idOf: (key) => `${key.provider}/${key.id}`,
    show: shown,
    goLive: () => bringTablesIntoForce(services, mirror),
  });
  return createRouter()
    .openapi(create, async (c) => {
      const { name: provider } = c.req.valid('param');
      const { key: secret, name = 'default', project_id: projectId = null, ...limits } = c.req.valid('json');
      await requireProvider(services, provider);
      const stored = await changes.create(c.get('actor'), async (tx) => {
        if (projectId !== null) await requireProject(tx, projectId);
        const keyId = Bun.randomUUIDv7();
        const sealed = sealKey(desk.vault, secret, keyId);
        return providerKeyRows.create(tx, { id: keyId, provider, projectId, name, ...sealed, ...readFields(limits) });
      });
      await health.restore(provider);
      return c.json(shown(stored), 201);
    })
    .openapi(list, async (c) => {
      const { name: provider } = c.req.valid('param');
      const { project_id: projectId, ...page } = c.req.valid('query');
      await requireProvider(services, provider);
      return c.json(showPage(await providerKeyRows.list(db, page, { provider, projectId }), shown), 200);
    })
    .openapi(show, async (c) => {
      return c.json(shown(required(await providerKeyRows.get(db, keyPath(c.req.valid('param'))), 'key')), 200);
    })
    .openapi(change, async (c) => {
      const at = keyPath(c.req.valid('param'));
      const { key: secret, ...body } = c.req.valid('json');
      const find = (tx: Db) => providerKeyRows.get(tx, at);
      const stored = await changes.update(c.get('actor'), find, (tx) => {
        const sealed = secret === undefined ? {} : sealKey(desk.vault, secret, at.id);
        return providerKeyRows.update(tx, at, { ...readFields(body), ...sealed });
      });
      if (secret !== undefined || body.is_active === true) await health.restore(at.provider);
      return c.json(shown(stored), 200);
    })
    .openapi(remove, async (c) => {
      await changes.remove(c.get('actor'), (tx) => providerKeyRows.delete(tx, keyPath(c.req.valid('param'))));
      return c.body(null, 204);
    })
    .openapi(test, async (c) => {
      const { name } = c.req.valid('param');
      const { model, key_id: keyId, project_id: projectId } = c.req.valid('json');
      await requireProvider(services, name);
      const find = { provider: name, id: keyId };
      const key = keyId === undefined ? undefined : required(await providerKeyRows.get(db, find), 'key');
      const outcome = await desk.test(name, { key, projectId, model });
      if (outcome === undefined) throw notConfigured(name);
      if (outcome.error === undefined) await health.restore(name);
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

const keyPath = (param: { name: string; key_id: string }) => ({ provider: param.name, id: param.key_id });

async function requireProvider({ db, providerAdmin }: Needs, name: string): Promise<void> {
  const isKnown = providerAdmin.vendors().some((vendor) => vendor.name === name);
  if (!isKnown && (await providerRows.get(db, { name })) === null) throw notFound('provider');
}

function notConfigured(name: string): GatewayError {
  const message =
    `"${name}" is not configured for everybody: store a key for it, give it one by the environment, or make it active. ` +
    'If its keys belong to single projects, send project_id or key_id.';
  return new GatewayError('conflict', message);
}

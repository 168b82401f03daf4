import { z } from '@hono/zod-openapi';
import { backendProvider } from '@llm0/core/backends/backend';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { Db } from '@llm0/drizzle/client';
import { backendRows, type StoredBackend } from '@llm0/drizzle/queries/routing/backends';
import { answers, createRouter, defineRoute, routesOf, takes } from '../admin-router';
import type { AdminServices } from '../admin-services';
import { AuditedChanges } from '../audit/audited-changes';
import { bringTablesIntoForce, type HotStoreMirror } from '../customers/hot-store-mirror';
import { id, pageQuery, showPage, text } from '../fields/fields';
import { required } from '../fields/find-or-refuse';
import { readFields } from '../fields/map-fields';
import {
  backendChangesSchema,
  backendPage,
  backendSchema,
  newBackendSchema,
  showBackend,
  testedSchema,
  testSchema,
} from './schema';
import { sealBackendHeaders } from './seal-headers';

const at = routesOf('backends');
const params = z.object({ id });
/** A backend of the environment has no id. */
const idOrName = z.object({
  id: text().openapi({ description: 'The id, or the name of a backend of the environment' }),
});

const create = defineRoute({
  ...at('post', '/backends', 'Add an HTTP backend at /infer/<name>/; applies at once'),
  request: { body: takes(newBackendSchema) },
  responses: { 201: answers(backendSchema, 'The backend; of its headers the names') },
});
const list = defineRoute({
  ...at('get', '/backends', 'List HTTP backends, newest first, and backends of the environment'),
  request: { query: z.strictObject({ name: text().optional(), ...pageQuery }) },
  responses: { 200: answers(backendPage, 'Backends') },
});
const show = defineRoute({
  ...at('get', '/backends/{id}', 'Show an HTTP backend'),
  request: { params },
  responses: { 200: answers(backendSchema, 'The backend; of its headers the names') },
});
const change = defineRoute({
  ...at('patch', '/backends/{id}', 'Change the given fields; applies at once. headers are replaced'),
  request: { params, body: takes(backendChangesSchema) },
  responses: { 200: answers(backendSchema, 'The backend as it is now') },
});
const remove = defineRoute({
  ...at('delete', '/backends/{id}', 'Delete an HTTP backend; its log rows stay'),
  request: { params },
  responses: { 204: { description: 'Deleted' } },
});
const test = defineRoute({
  ...at(
    'post',
    '/backends/{id}/test',
    'Send one request to the backend, free and without a log row; an answer closes its breaker',
  ),
  request: { params: idOrName, body: takes(testSchema) },
  responses: { 200: answers(testedSchema, 'Whether it answered') },
});

/** A change of these fields resets a backend's health. */
const RESTORING = ['url', 'headers', 'is_active', 'timeout_ms'] as const;

type Needs = Pick<AdminServices, 'db' | 'hotStore' | 'reloadTables' | 'backendAdmin' | 'checkUrl' | 'health'>;
type Body = Partial<z.infer<typeof newBackendSchema>>;

export function backendRoutes(services: Needs, mirror: HotStoreMirror) {
  const { db, backendAdmin, checkUrl, health } = services;
  const restore = (name: string) => health.restore(backendProvider(name));
  const changes = new AuditedChanges(db, {
    ...{ resource: 'backend', what: 'backend', idOf: (row: StoredBackend) => row.id },
    show: showBackend,
    goLive: () => bringTablesIntoForce(services, mirror),
  });
  const find = async (tx: Db, at: { readonly id: string }) => required(await backendRows.get(tx, at), 'backend');
  return createRouter()
    .openapi(create, async (c) => {
      const body = c.req.valid('json');
      await checkUrl(body.url);
      if (backendAdmin.isFromEnvironment(body.name)) throw taken(body.name, 'the environment has one of this name');
      const stored = await changes.create(c.get('actor'), async (tx) => {
        const rowId = crypto.randomUUID();
        const made = await backendRows.createUnlessThere(tx, {
          ...{ id: rowId, name: body.name, url: body.url },
          ...settingsOf(services, body, rowId),
        });
        if (made === null) throw taken(body.name, 'it already exists');
        return made;
      });
      await restore(stored.name);
      return c.json(showBackend(stored), 201);
    })
    .openapi(list, async (c) => {
      const { name, ...page } = c.req.valid('query');
      const found = showPage(await backendRows.list(db, page, { name }), showBackend);
      const environment = backendAdmin.fromEnvironment().filter((one) => name === undefined || one.name === name);
      return c.json({ ...found, environment: page.cursor === undefined ? environment.map(showSetting) : [] }, 200);
    })
    .openapi(show, async (c) => c.json(showBackend(await find(db, c.req.valid('param'))), 200))
    .openapi(change, async (c) => {
      const at = c.req.valid('param');
      const body = c.req.valid('json');
      if (body.url !== undefined) await checkUrl(body.url);
      const stored = await changes.update(
        c.get('actor'),
        (tx) => backendRows.get(tx, at),
        (tx) => backendRows.update(tx, at, { url: body.url, ...settingsOf(services, body, at.id) }),
      );
      // A change of address or request makes old health data obsolete.
      if (RESTORING.some((field) => body[field] !== undefined)) await restore(stored.name);
      return c.json(showBackend(stored), 200);
    })
    .openapi(remove, async (c) => {
      await changes.remove(c.get('actor'), (tx) => backendRows.delete(tx, c.req.valid('param')));
      return c.body(null, 204);
    })
    .openapi(test, async (c) => {
      const name = await nameOf(services, c.req.valid('param').id);
      const tested = await backendAdmin.test(name, c.req.valid('json').path);
      if (tested.ok) await restore(name);
      return c.json(showTested(tested), 200);
    });
}

/** Name of a backend by id, or of one from the environment by name. */
async function nameOf({ db, backendAdmin }: Needs, given: string): Promise<string> {
  if (backendAdmin.isFromEnvironment(given)) return given;
  const rowId = id.safeParse(given).data;
  return required(rowId === undefined ? null : await backendRows.get(db, { id: rowId }), 'backend').name;
}

type Tested = Awaited<ReturnType<AdminServices['backendAdmin']['test']>>;

const showTested = ({ ok, status, latencyMs, detail }: Tested) => ({
  ...{ ok, status: status ?? null, latency_ms: latencyMs ?? null, error: detail ?? null },
});

/** Converts the body to columns, without name and address. */
function settingsOf({ backendAdmin }: Needs, body: Body, rowId: string) {
  const { name: _name, url: _url, headers, forward_headers: forwarded, cache, ...rest } = body;
  return {
    ...readFields(rest),
    ...sealBackendHeaders(backendAdmin.vault, headers, rowId),
    ...(forwarded === undefined ? {} : { forwardHeaders: forwarded ?? [] }),
    ...(cache?.enabled === undefined ? {} : { cacheEnabled: cache.enabled }),
    ...(cache?.ttl_seconds === undefined ? {} : { cacheTtlSeconds: cache.ttl_seconds }),
  };
}

type Setting = ReturnType<AdminServices['backendAdmin']['fromEnvironment']>[number];

const showSetting = ({ name, url, forwardHeaders, timeoutMs, retries, cache, isActive }: Setting) => ({
  ...{
    name,
    url,
    forward_headers: [...forwardHeaders],
    price_per_request_usd: 0,
    timeout_ms: timeoutMs,
    retries,
    is_active: isActive,
  },
  cache: { enabled: cache.enabled, ttl_seconds: cache.ttlSeconds },
});

function taken(name: string, why: string): GatewayError {
  const message = `There is a backend "${name}" already: ${why}. Edit that one, or choose another name.`;
  return new GatewayError('conflict', message, { param: 'name' });
}

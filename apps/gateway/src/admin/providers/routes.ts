import { z } from '@hono/zod-openapi';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { failingChecks } from '@llm0/core/routing/checked-provider';
import type { Db } from '@llm0/drizzle/client';
import { deletePrice, putPrice } from '@llm0/drizzle/queries/routing/model-pricing';
import { listAllProviderKeys, providerKeyRows } from '@llm0/drizzle/queries/routing/provider-keys';
import {
  listProviders,
  type ProviderSettings,
  providerRows,
  type StoredProvider,
} from '@llm0/drizzle/queries/routing/providers';
import { answers, createRouter, defineRoute, routesOf, takes } from '../admin-router';
import type { AdminServices } from '../admin-services';
import { recordChange } from '../audit/record-change';
import { bringTablesIntoForce, type HotStoreMirror } from '../customers/hot-store-mirror';
import { pageQuery, providerName } from '../fields/fields';
import { required } from '../fields/find-or-refuse';
import {
  newProviderSchema,
  providerAddressSchema,
  providerChangesSchema,
  providerPage,
  providerSchema,
  showProvider,
  showProviderKey,
  showTargetState,
  toPricedModels,
} from './schema';
import { sealHeaders, sealKey } from './seal-secret';

const at = routesOf('providers');
const params = z.object({ name: providerName });

const create = defineRoute({
  ...at('post', '/providers', 'Add an OpenAI-compatible server, or configure a known provider; applies at once'),
  request: { body: takes(newProviderSchema) },
  responses: { 201: answers(providerSchema, 'The provider, without its secrets') },
});
const list = defineRoute({
  ...at('get', '/providers', 'List known and added providers by name, configured or not'),
  request: { query: z.strictObject(pageQuery) },
  responses: { 200: answers(providerPage, 'Providers') },
});
const check = defineRoute({
  ...at(
    'post',
    '/providers/check',
    "Check a provider's address, and that its secrets can be stored; sends and changes nothing",
  ),
  request: { body: takes(providerAddressSchema) },
  responses: {
    200: answers(providerAddressSchema, 'It may; a refused address is 400, a missing ENCRYPTION_KEY is 409'),
  },
});
const show = defineRoute({
  ...at('get', '/providers/{name}', 'Show a provider'),
  request: { params },
  responses: { 200: answers(providerSchema, 'The provider, without its secrets') },
});
const change = defineRoute({
  ...at('patch', '/providers/{name}', 'Change the given fields; applies at once. `models` and `headers` are replaced'),
  request: { params, body: takes(providerChangesSchema) },
  responses: { 200: answers(providerSchema, 'The provider as it is now') },
});
const remove = defineRoute({
  ...at('delete', '/providers/{name}', "Delete a provider's configuration and keys; of an added one also its prices"),
  request: { params },
  responses: { 204: { description: 'Deleted' } },
});

/** A change of these fields resets a provider's health. */
const RESTORING = ['base_url', 'headers', 'options', 'is_active'] as const;

type Needs = Pick<
  AdminServices,
  'db' | 'hotStore' | 'reloadTables' | 'createId' | 'providerAdmin' | 'health' | 'clock'
>;
type Body = z.infer<typeof newProviderSchema>;

export function providerRoutes(services: Needs, mirror: HotStoreMirror) {
  const { db, providerAdmin: desk } = services;
  const goLive = bringingIntoForce(services, mirror);
  return createRouter()
    .openapi(create, async (c) => {
      const body = c.req.valid('json');
      const kind = kindOf(services, body);
      checkChecks(services, body);
      await checkBaseUrl(services, body);
      await recordChange(db, c.get('actor'), async (tx) => {
        await storeProvider(services, tx, { ...body, kind });
        const after = await shown(services, tx, body.name);
        return { result: null, action: 'create', resource: 'provider', resourceId: body.name, after };
      });
      await goLive(body.name);
      return c.json(required(await shown(services, db, body.name), 'provider'), 201);
    })
    .openapi(check, async (c) => c.json(await checked(services, c.req.valid('json')), 200))
    .openapi(list, async (c) => {
      const { limit, cursor } = c.req.valid('query');
      const names = await allNames(services);
      const from = cursor === undefined ? 0 : names.findIndex((name) => name > cursor);
      const page = from < 0 ? [] : names.slice(from, from + limit);
      const data = await Promise.all(page.map((name) => shown(services, db, name)));
      const last = page.at(-1);
      const next = last === undefined || last === names.at(-1) ? null : last;
      return c.json({ data: data.filter((one) => one !== null), next_cursor: next }, 200);
    })
    .openapi(show, async (c) => c.json(required(await shown(services, db, c.req.valid('param').name), 'provider'), 200))
    .openapi(change, async (c) => {
      const { name } = c.req.valid('param');
      const body = c.req.valid('json');
      await checkBaseUrl(services, { ...body, name });
      checkChecks(services, { ...body, name });
      await recordChange(db, c.get('actor'), async (tx) => {
        const before = await shown(services, tx, name);
        const stored = required(await storedOrVendor(services, tx, name), 'provider');
        if (stored.kind === desk.customKind && body.base_url === null) throw needsUrl();
        const settings = settingsOf(services, body, stored.id);
        required(await providerRows.update(tx, { name }, settings), 'stored provider');
        if (body.models !== undefined) await replacePrices(tx, stored, body.models ?? []);
        const after = await shown(services, tx, name);
        return { result: null, action: 'update', resource: 'provider', resourceId: name, before, after };
      });
      await goLive(RESTORING.some((field) => body[field] !== undefined) ? name : undefined);
      return c.json(required(await shown(services, db, name), 'provider'), 200);
    })
    .openapi(remove, async (c) => {
      const { name } = c.req.valid('param');
      await recordChange(db, c.get('actor'), async (tx) => {
        const before = await shown(services, tx, name);
        const stored = required(await providerRows.delete(tx, { name }), 'stored provider');
        await providerKeyRows.delete(tx, { provider: name });
        await replacePrices(tx, stored, []);
        return { result: null, action: 'delete', resource: 'provider', resourceId: name, before };
      });
      await goLive();
      return c.body(null, 204);
    });
}

/** `restored`: provider whose old failures no longer count. */
const bringingIntoForce = (services: Needs, mirror: HotStoreMirror) => async (restored?: string) => {
  await bringTablesIntoForce(services, mirror);
  if (restored !== undefined) await services.health.restore(restored);
};

/** With its key and its models' prices, where the body has some. */
async function storeProvider(services: Needs, tx: Db, body: Body & { readonly kind: string }): Promise<void> {
  const rowId = crypto.randomUUID();
  const { name, kind } = body;
  const settings = settingsOf(services, body, rowId);
  const stored = await providerRows.createUnlessThere(tx, { id: rowId, name, kind, ...settings });
  if (stored === null) throw taken(name);
  if (body.key !== undefined) {
    const keyId = Bun.randomUUIDv7();
    const sealed = sealKey(services.providerAdmin.vault, body.key, keyId);
    await providerKeyRows.create(tx, { id: keyId, provider: name, projectId: null, name: 'default', ...sealed });
  }
  await putPrices(tx, name, body.models ?? []);
}

async function allNames({ db, providerAdmin }: Needs): Promise<readonly string[]> {
  const stored = (await listProviders(db)).map(({ name }) => name);
  const known = providerAdmin.vendors().map(({ name }) => name);
  return [...new Set([...known, ...providerAdmin.builtIn(), ...stored])].sort();
}

/** null for an unknown name: neither vendor, built-in nor stored. */
async function shown({ providerAdmin: desk, health, clock }: Needs, db: Db, name: string) {
  const stored = await providerRows.get(db, { name });
  const vendor = desk.vendors().find((one) => one.name === name);
  if (stored === null && vendor === undefined && !desk.builtIn().includes(name)) return null;
  const keys = (await listAllProviderKeys(db)).filter((key) => key.provider === name);
  const connected = desk.connected(name);
  const targets = health.list().filter(({ provider }) => provider === name);
  return showProvider(stored, {
    name,
    kind: stored?.kind ?? name,
    baseUrl: (stored?.baseUrl ?? connected?.connection.baseUrl ?? vendor?.defaultBaseUrl) || null,
    isConfigured: connected !== undefined,
    isFree: connected?.provider.isFree === true,
    healthCheck:
      stored?.healthCheckIntervalMs == null ? null : failingChecks(health.list()).includes(name) ? 'failing' : 'ok',
    keyProblem: desk.keyProblem(name) ?? null,
    keys: keys.map((key) => showProviderKey(key, desk.keyState(key))),
    targets: targets.map((status) => showTargetState(status, clock.nowMs())),
  });
}

/** A known vendor has its own kind; others speak OpenAI's API and need a base URL. */
function kindOf({ providerAdmin: desk }: Needs, { name, kind, base_url: baseUrl }: Body): string {
  const isVendor = desk.vendors().some((vendor) => vendor.name === name);
  if (!isVendor && desk.isVendor(name)) throw taken(name);
  const expected = isVendor ? name : desk.customKind;
  if (kind !== undefined && kind !== expected) {
    throw new GatewayError('invalid_request', `kind: must be "${expected}" for a provider named "${name}".`, {
      param: 'kind',
    });
  }
  if (!isVendor && (baseUrl === undefined || baseUrl === null)) throw needsUrl();
  return expected;
}

/** Some vendors have nothing that can be asked for free. */
function checkChecks(
  { providerAdmin }: Needs,
  {
    name,
    health_check_interval_ms: intervalMs,
  }: { readonly name: string; readonly health_check_interval_ms?: number | null },
): void {
  if (intervalMs == null || providerAdmin.hasFreeTest(name)) return;
  const message = `health_check_interval_ms: "${name}" has nothing that the gateway can ask for free.`;
  throw new GatewayError('invalid_request', message, { param: 'health_check_interval_ms' });
}

async function checkBaseUrl(
  { providerAdmin }: Needs,
  { name, base_url: url }: { readonly name: string; readonly base_url?: string | null },
): Promise<void> {
  if (url === undefined || url === null) return;
  try {
    await providerAdmin.checkUrl(name, url);
  } catch (cause) {
    if (!(cause instanceof GatewayError) || cause.kind === 'upstream_unavailable') throw cause;
    const fix =
      'To permit it, set the environment variable EGRESS_ALLOW to its host or range, and restart the gateway.';
    const message = `base_url: ${cause.message} ${fix}`;
    throw new GatewayError('invalid_request', message, { param: 'base_url', cause });
  }
}

async function checked<
  T extends { readonly name: string; readonly base_url?: string; readonly stores_secret?: boolean },
>(services: Needs, asked: T): Promise<T> {
  await checkBaseUrl(services, asked);
  // Throws where nothing can be sealed.
  if (asked.stores_secret === true) services.providerAdmin.vault.seal('', '');
  return asked;
}

/** A vendor of which nothing is stored gets a row: its address and key may be the environment's. */
async function storedOrVendor({ providerAdmin }: Needs, tx: Db, name: string): Promise<StoredProvider | null> {
  const stored = await providerRows.get(tx, { name });
  if (stored !== null || providerAdmin.vendors().every((vendor) => vendor.name !== name)) return stored;
  await providerRows.createUnlessThere(tx, { id: crypto.randomUUID(), name, kind: name });
  return providerRows.get(tx, { name });
}

/** The fields that were sent (the others undefined), secrets sealed for the row. */
function settingsOf({ providerAdmin }: Needs, body: Omit<Body, 'name'>, rowId: string): Partial<ProviderSettings> {
  return {
    baseUrl: body.base_url,
    options: body.options === null ? {} : body.options,
    models: body.models === null ? [] : body.models?.map(({ model }) => model),
    passthroughPaths: body.passthrough_paths === null ? [] : body.passthrough_paths,
    requestTimeoutMs: body.request_timeout_ms,
    answerTimeoutMs: body.answer_timeout_ms,
    drain: body.drain,
    maxConcurrency: body.max_concurrency,
    healthCheckIntervalMs: body.health_check_interval_ms,
    isActive: body.is_active,
    ...(body.headers === undefined ? {} : sealHeaders(providerAdmin.vault, body.headers, rowId)),
  };
}

async function putPrices(db: Db, provider: string, models: NonNullable<Body['models']>): Promise<void> {
  for (const priced of toPricedModels(provider, models)) await putPrice(db, priced);
}

/** Models that a provider does not serve any more lose their price with it. */
async function replacePrices(db: Db, stored: StoredProvider, models: NonNullable<Body['models']>): Promise<void> {
  const kept = new Set(models.map(({ model }) => model));
  for (const model of stored.models) if (!kept.has(model)) await deletePrice(db, { provider: stored.name, model });
  await putPrices(db, stored.name, models);
}

function taken(name: string): GatewayError {
  return new GatewayError('conflict', `A provider "${name}" already exists. Edit it, or choose another name.`, {
    param: 'name',
  });
}

function needsUrl(): GatewayError {
  const message = 'base_url: is required for a provider that is no known vendor.';
  return new GatewayError('invalid_request', message, { param: 'base_url' });
}

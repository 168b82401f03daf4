import { z } from '@hono/zod-openapi';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { Db } from '@llm0/drizzle/client';
import { aliasRows, type StoredAlias } from '@llm0/drizzle/queries/routing/aliases';
import { answers, createRouter, defineRoute, routesOf, takes } from '../admin-router';
import type { AdminServices } from '../admin-services';
import { AuditedChanges } from '../audit/audited-changes';
import { bringTablesIntoForce, type HotStoreMirror } from '../customers/hot-store-mirror';
import { id, pageOf, pageQuery, projectIds, showPage } from '../fields/fields';
import { required, requireProject } from '../fields/find-or-refuse';
import { readFields } from '../fields/map-fields';
import { refuseUnknownProviders } from '../providers/known-providers';
import { aliasChangesSchema, aliasSchema, newAliasSchema, showAlias } from './schema';
import { modelName } from './target-schema';

const at = routesOf('aliases');
const params = z.object({ id });

const create = defineRoute({
  ...at('post', '/aliases', 'Create an alias: a name for one target, or for several with a strategy'),
  request: { body: takes(newAliasSchema) },
  responses: { 201: answers(aliasSchema, 'The new alias') },
});
const list = defineRoute({
  ...at('get', '/aliases', 'List aliases, newest first'),
  request: { query: z.strictObject({ project_id: projectIds, alias: modelName.optional(), ...pageQuery }) },
  responses: { 200: answers(pageOf(aliasSchema), 'Aliases') },
});
const show = defineRoute({
  ...at('get', '/aliases/{id}', 'Show an alias'),
  request: { params },
  responses: { 200: answers(aliasSchema, 'The alias') },
});
const change = defineRoute({
  ...at('patch', '/aliases/{id}', 'Change the given fields; applies at once'),
  request: { params, body: takes(aliasChangesSchema) },
  responses: { 200: answers(aliasSchema, 'The alias as it is now') },
});
const remove = defineRoute({
  ...at('delete', '/aliases/{id}', 'Delete an alias; applies at once'),
  request: { params },
  responses: { 204: { description: 'Deleted' } },
});

type Needs = Pick<AdminServices, 'db' | 'hotStore' | 'reloadTables' | 'routing' | 'providerAdmin'>;

export function aliasRoutes(services: Needs, mirror: HotStoreMirror) {
  const { db } = services;
  const shown = (alias: StoredAlias) => showAlias(alias, services.routing());
  const changes = new AuditedChanges(db, {
    resource: 'alias',
    idOf: (alias) => alias.id,
    show: shown,
    goLive: () => bringTablesIntoForce(services, mirror),
  });
  return createRouter()
    .openapi(create, async (c) => {
      const { body, options } = partOptions(c.req.valid('json'));
      const { alias, projectId = null, targets, strategy } = readFields(body);
      const stored = await changes.create(c.get('actor'), async (tx) => {
        if (projectId !== null) await requireProject(tx, projectId);
        await refuseUnknownProviders(services, tx, targets);
        const settings = { alias, projectId, targets, strategy, options: toOptions({}, options) };
        const made = await aliasRows.createUnlessThere(tx, settings);
        if (made === null) throw taken(alias);
        return made;
      });
      return c.json(shown(stored), 201);
    })
    .openapi(list, async (c) => {
      const { project_id: projectId, alias, ...page } = c.req.valid('query');
      return c.json(showPage(await aliasRows.list(db, page, { projectId, alias }), shown), 200);
    })
    .openapi(show, async (c) => c.json(shown(required(await aliasRows.get(db, c.req.valid('param')), 'alias')), 200))
    .openapi(change, async (c) => {
      const at = c.req.valid('param');
      const { body, options: given } = partOptions(c.req.valid('json'));
      const find = async (tx: Db) => {
        await refuseUnknownProviders(services, tx, body.targets);
        return aliasRows.get(tx, at);
      };
      const stored = await changes.update(c.get('actor'), find, async (tx) => {
        const { options } = required(await aliasRows.get(tx, at), 'alias');
        return aliasRows.update(tx, at, { ...body, options: toOptions(options, given) });
      });
      return c.json(shown(stored), 200);
    })
    .openapi(remove, async (c) => {
      await changes.remove(c.get('actor'), (tx) => aliasRows.delete(tx, c.req.valid('param')));
      return c.body(null, 204);
    });
}

type GivenOptions = Partial<
  Pick<z.output<typeof aliasChangesSchema>, 'hedge_after_ms' | 'session_affinity' | 'failover' | 'retry_timeouts'>
>;

function partOptions<B extends GivenOptions>(sent: B) {
  const { hedge_after_ms, session_affinity, failover, retry_timeouts, ...body } = sent;
  return { body, options: { hedge_after_ms, session_affinity, failover, retry_timeouts } };
}

/** Keeps omitted fields and stores only values other than the default. */
function toOptions(before: StoredAlias['options'], given: GivenOptions): StoredAlias['options'] {
  const hedgeAfterMs = given.hedge_after_ms === undefined ? before.hedge_after_ms : given.hedge_after_ms;
  const failover = given.failover === undefined ? before.failover : given.failover;
  const isSpread = given.session_affinity === undefined ? before.session_affinity === false : !given.session_affinity;
  const retries = given.retry_timeouts ?? before.retry_timeouts ?? false;
  return {
    ...(hedgeAfterMs == null ? {} : { hedge_after_ms: hedgeAfterMs }),
    ...(failover == null ? {} : { failover }),
    ...(isSpread ? { session_affinity: false } : {}),
    ...(retries ? { retry_timeouts: true } : {}),
  };
}

function taken(name: string): GatewayError {
  return new GatewayError('conflict', `An alias "${name}" already exists. Edit it, or delete it first.`, {
    param: 'alias',
  });
}

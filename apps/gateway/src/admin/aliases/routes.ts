import { createRoute, z } from '@hono/zod-openapi';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import {
  createAlias,
  deleteAlias,
  getAlias,
  listAliases,
  type StoredAlias,
  updateAlias,
} from '@llm0/drizzle/queries/routing/aliases';
import { answers, createRouter, routesOf, takes } from '../admin-router';
import type { AdminServices } from '../admin-services';
import { recordChange } from '../audit/record-change';
import { bringTablesIntoForce, type HotStoreMirror } from '../customers/hot-store-mirror';
import { id, pageOf, pageQuery, showPage } from '../fields/fields';
import { notFound, required, requireProject } from '../fields/find-or-refuse';
import { aliasChangesSchema, aliasSchema, newAliasSchema, showAlias, toAliasTargets } from './schema';
import { modelName } from './target-schema';

const at = routesOf('aliases');
const params = z.object({ id });

const create = createRoute({
  ...at(
    'post',
    '/aliases',
    'Make a model name of your own: another name for one target, or several in the order of a strategy',
  ),
  request: { body: takes(newAliasSchema) },
  responses: { 201: answers(aliasSchema, 'The new alias') },
});
const list = createRoute({
  ...at('get', '/aliases', 'List aliases, newest first'),
  request: { query: z.strictObject({ project_id: id.optional(), alias: modelName.optional(), ...pageQuery }) },
  responses: { 200: answers(pageOf(aliasSchema), 'Aliases') },
});
const show = createRoute({
  ...at('get', '/aliases/{id}', 'Show an alias'),
  request: { params },
  responses: { 200: answers(aliasSchema, 'The alias') },
});
const change = createRoute({
  ...at('patch', '/aliases/{id}', 'Change the fields sent; live at once'),
  request: { params, body: takes(aliasChangesSchema) },
  responses: { 200: answers(aliasSchema, 'The alias as it is now') },
});
const remove = createRoute({
  ...at('delete', '/aliases/{id}', 'Delete an alias; live at once'),
  request: { params },
  responses: { 204: { description: 'Deleted' } },
});

type Needs = Pick<AdminServices, 'db' | 'hotStore' | 'reloadTables' | 'routing'>;

export function aliasRoutes(services: Needs, mirror: HotStoreMirror) {
  const { db } = services;
  const shown = (alias: StoredAlias) => showAlias(alias, services.routing());
  const goLive = () => bringTablesIntoForce(services, mirror);
  return createRouter()
    .openapi(create, async (c) => {
      const body = c.req.valid('json');
      const { alias: name, project_id: projectId = null, strategy = 'priority' } = body;
      const hedgeAfterMs = body.hedge_after_ms ?? undefined;
      const settings = { name, projectId, targets: toAliasTargets(body.targets), strategy, hedgeAfterMs };
      const stored = await recordChange(db, c.get('actor'), async (tx) => {
        if (projectId !== null) await requireProject(tx, projectId);
        const result = await createAlias(tx, settings);
        if (result === null) throw taken(name);
        return { result, action: 'create', ...auditName(result.id), after: shown(result) };
      });
      await goLive();
      return c.json(shown(stored), 201);
    })
    .openapi(list, async (c) => {
      const { project_id: projectId, alias: name, ...page } = c.req.valid('query');
      return c.json(showPage(await listAliases(db, page, { projectId, name }), shown), 200);
    })
    .openapi(show, async (c) => c.json(shown(required(await getAlias(db, c.req.valid('param').id), 'alias')), 200))
    .openapi(change, async (c) => {
      const { id: aliasId } = c.req.valid('param');
      const { targets, strategy, hedge_after_ms: hedgeAfterMs } = c.req.valid('json');
      const changes = { targets: targets && toAliasTargets(targets), strategy, hedgeAfterMs };
      const stored = await recordChange(db, c.get('actor'), async (tx) => {
        const before = shown(required(await getAlias(tx, aliasId), 'alias'));
        const result = required(await updateAlias(tx, aliasId, changes), 'alias');
        return { result, action: 'update', ...auditName(aliasId), before, after: shown(result) };
      });
      await goLive();
      return c.json(shown(stored), 200);
    })
    .openapi(remove, async (c) => {
      const { id: aliasId } = c.req.valid('param');
      await recordChange(db, c.get('actor'), async (tx) => {
        const before = shown(required(await getAlias(tx, aliasId), 'alias'));
        if (!(await deleteAlias(tx, aliasId))) throw notFound('alias');
        return { result: null, action: 'delete', ...auditName(aliasId), before };
      });
      await goLive();
      return c.body(null, 204);
    });
}

const auditName = (resourceId: string) => ({ resource: 'alias', resourceId });

function taken(name: string): GatewayError {
  return new GatewayError('conflict', `There is an alias "${name}" there already: change it, or delete it first.`, {
    param: 'alias',
  });
}

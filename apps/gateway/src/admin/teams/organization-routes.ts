import { z } from '@hono/zod-openapi';
import { GatewayError, invalidRequest } from '@llm0/core/errors/gateway-error';
import type { Db } from '@llm0/drizzle/client';
import type { RaisedVersions } from '@llm0/drizzle/queries/access/levels';
import { countTeams, DEFAULT_ORGANIZATION_ID, organizationRows } from '@llm0/drizzle/queries/access/teams';
import { sqlState } from '@llm0/drizzle/sql-state';
import { answers, createRouter, defineRoute, routesOf, takes } from '../admin-router';
import type { Actor, AdminServices } from '../admin-services';
import { AuditedChanges } from '../audit/audited-changes';
import type { HotStoreMirror } from '../customers/hot-store-mirror';
import { id, pageOf, pageQuery, showPage } from '../fields/fields';
import { required } from '../fields/find-or-refuse';
import { readFields } from '../fields/map-fields';
import type { RuleNeeds } from '../guardrails/refuse-rules';
import { LevelLimits, refuseLevelRules } from './level-limits';
import { newOrganizationSchema, organizationChangesSchema, organizationSchema, showOrganization } from './schema';

const at = routesOf('teams');
const params = z.object({ id });
const NAMED = 'an organization';

const create = defineRoute({
  ...at('post', '/organizations', 'Create an organization'),
  request: { body: takes(newOrganizationSchema) },
  responses: { 201: answers(organizationSchema, 'The new organization') },
});
const list = defineRoute({
  ...at('get', '/organizations', 'List organizations, newest first'),
  request: { query: z.strictObject(pageQuery) },
  responses: { 200: answers(pageOf(organizationSchema), "Organizations; of people, those of the person's teams") },
});
const show = defineRoute({
  ...at('get', '/organizations/{id}', 'Show an organization'),
  request: { params },
  responses: { 200: answers(organizationSchema, 'The organization') },
});
const change = defineRoute({
  ...at('patch', '/organizations/{id}', 'Change the given fields; limits hold from the next request'),
  request: { params, body: takes(organizationChangesSchema) },
  responses: { 200: answers(organizationSchema, 'The organization as it is now') },
});
const remove = defineRoute({
  ...at('delete', '/organizations/{id}', 'Delete an organization without teams'),
  request: { params },
  responses: { 204: { description: 'Deleted' } },
});

export function organizationRoutes(
  services: Pick<AdminServices, 'db' | 'hotStore'> & RuleNeeds,
  mirror: HotStoreMirror,
) {
  const { db, hotStore } = services;
  const limits = new LevelLimits(hotStore, mirror);
  const changes = new AuditedChanges(db, {
    ...{ resource: 'organization', idOf: (one: { readonly id: string }) => one.id, show: showOrganization },
  });
  return createRouter()
    .openapi(create, async (c) => {
      const fields = readFields(c.req.valid('json'));
      limits.refuseOnShards(fields);
      await refuseLevelRules(services, fields);
      const made = changes.create(c.get('actor'), (tx) => organizationRows.create(tx, fields));
      return c.json(showOrganization(await unlessTaken(NAMED, made)), 201);
    })
    .openapi(list, async (c) => {
      const having = { id: visible(c.get('actor')) };
      return c.json(showPage(await organizationRows.list(db, c.req.valid('query'), having), showOrganization), 200);
    })
    .openapi(show, async (c) => {
      const found = required(await organizationRows.get(db, c.req.valid('param')), 'organization');
      return c.json(showOrganization(found), 200);
    })
    .openapi(change, async (c) => {
      const at = c.req.valid('param');
      const fields = readFields(c.req.valid('json'));
      await refuseLevelRules(services, fields);
      limits.refuseOwn(fields, c.get('actor').access.mayEverywhere('change_system'));
      const owner = { scope: 'organization', levelId: at.id } as const;
      let raised: readonly RaisedVersions[] = [];
      const write = async (tx: Db) => {
        raised = await limits.raise(tx, owner, fields);
        return organizationRows.update(tx, at, fields);
      };
      const changed = changes.update(c.get('actor'), (tx) => organizationRows.get(tx, at), write);
      const organization = await unlessTaken(NAMED, changed);
      await limits.bringIntoForce(owner, raised);
      return c.json(showOrganization(organization), 200);
    })
    .openapi(remove, async (c) => {
      const at = c.req.valid('param');
      if (at.id === DEFAULT_ORGANIZATION_ID) throw isDefault('organization');
      await changes.remove(c.get('actor'), async (tx) => {
        if ((await countTeams(tx, at.id)) > 0) throw hasMore('organization', 'teams');
        return organizationRows.delete(tx, at);
      });
      return c.body(null, 204);
    });
}

/** Ids of the organizations of a person's teams; undefined = all. */
function visible({ access, user }: Actor): readonly string[] | undefined {
  return access.mayEverywhere('see') ? undefined : (user?.grants.map(({ organizationId }) => organizationId) ?? []);
}

/** Awaits a change of a name; a name that is taken is a conflict. */
export async function unlessTaken<T>(what: string, change: Promise<T>): Promise<T> {
  try {
    return await change;
  } catch (cause) {
    if (sqlState(cause) !== UNIQUE_VIOLATION) throw cause;
    const message = `There is ${what} of this name already. Choose another name.`;
    throw new GatewayError('conflict', message, { param: 'name', cause });
  }
}
const UNIQUE_VIOLATION = '23505';

export const isDefault = (what: string) => invalidRequest('id', `The default ${what} can't be deleted.`);

export const hasMore = (what: string, parts: string) =>
  new GatewayError('conflict', `This ${what} still has ${parts}. Move or delete them first.`);

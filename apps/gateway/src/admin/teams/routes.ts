import { z } from '@hono/zod-openapi';
import type { Db } from '@llm0/drizzle/client';
import type { RaisedVersions } from '@llm0/drizzle/queries/access/levels';
import {
  countInTeams,
  countProjectsOfTeam,
  DEFAULT_ORGANIZATION_ID,
  DEFAULT_TEAM_ID,
  listTeams,
  organizationRows,
  type StoredTeam,
  teamRows,
} from '@llm0/drizzle/queries/access/teams';
import { raiseKeysOfMembers } from '@llm0/drizzle/queries/access/users';
import { raiseVersions } from '../../sign-on/raise-versions';
import { answers, createRouter, defineRoute, routesOf, takes } from '../admin-router';
import type { AdminServices } from '../admin-services';
import { AuditedChanges } from '../audit/audited-changes';
import type { HotStoreMirror } from '../customers/hot-store-mirror';
import { id, pageOf, pageQuery, showPage, text } from '../fields/fields';
import { required } from '../fields/find-or-refuse';
import { readFields } from '../fields/map-fields';
import type { RuleNeeds } from '../guardrails/refuse-rules';
import { LevelLimits, refuseLevelRules } from './level-limits';
import { hasMore, isDefault, unlessTaken } from './organization-routes';
import { listedTeamSchema, newTeamSchema, showTeam, teamChangesSchema, teamSchema } from './schema';
import { shareRoutes } from './share-routes';

type Needs = Pick<AdminServices, 'db' | 'hotStore' | 'clock'> & RuleNeeds;

const at = routesOf('teams');
const params = z.object({ id });
const NAMED = 'a team in this organization';

const create = defineRoute({
  ...at('post', '/teams', 'Create a team'),
  request: { body: takes(newTeamSchema) },
  responses: { 201: answers(teamSchema, 'The new team') },
});
const list = defineRoute({
  ...at('get', '/teams', 'List teams, newest first'),
  request: {
    query: z.strictObject({
      organization_id: id.optional(),
      q: text(256).optional().openapi({ description: 'Substring of the name' }),
      ...pageQuery,
    }),
  },
  responses: { 200: answers(pageOf(listedTeamSchema), "Teams; of people, the person's teams") },
});
const show = defineRoute({
  ...at('get', '/teams/{id}', 'Show a team'),
  request: { params },
  responses: { 200: answers(teamSchema, 'The team') },
});
const change = defineRoute({
  ...at('patch', '/teams/{id}', 'Change the given fields; limits hold from the next request'),
  request: { params, body: takes(teamChangesSchema) },
  responses: { 200: answers(teamSchema, 'The team as it is now') },
});
const remove = defineRoute({
  ...at('delete', '/teams/{id}', 'Delete a team without projects; its members stay users'),
  request: { params },
  responses: { 204: { description: 'Deleted' } },
});

export function teamRoutes(services: Needs, mirror: HotStoreMirror) {
  const { db, hotStore } = services;
  const limits = new LevelLimits(hotStore, mirror);
  const changes = new AuditedChanges(db, { resource: 'team', idOf: (team: StoredTeam) => team.id, show: showTeam });
  return createRouter()
    .route('/', shareRoutes(services))
    .openapi(create, async (c) => {
      const { organizationId = DEFAULT_ORGANIZATION_ID, ...fields } = readFields(c.req.valid('json'));
      limits.refuseOnShards(fields);
      await refuseLevelRules(services, fields);
      const made = changes.create(c.get('actor'), async (tx) => {
        required(await organizationRows.get(tx, { id: organizationId }), 'organization');
        return teamRows.create(tx, { organizationId, ...fields });
      });
      return c.json(showTeam(await unlessTaken(NAMED, made)), 201);
    })
    .openapi(list, async (c) => {
      const { organization_id: organizationId, ...asked } = c.req.valid('query');
      const { access } = c.get('actor');
      const places = access.mayEverywhere('see') ? undefined : access.placesOf('see');
      const page = await listTeams(db, { ...asked, organizationId, places });
      return c.json(showPage(page, await listed(db, page.data)), 200);
    })
    .openapi(show, async (c) => c.json(showTeam(required(await teamRows.get(db, c.req.valid('param')), 'team')), 200))
    .openapi(change, async (c) => {
      const at = c.req.valid('param');
      const fields = readFields(c.req.valid('json'));
      await refuseLevelRules(services, fields);
      const owner = { scope: 'team', levelId: at.id } as const;
      let raised: readonly RaisedVersions[] = [];
      const write = async (tx: Db) => {
        const { organizationId } = required(await teamRows.get(tx, at), 'team');
        limits.refuseOwn(fields, c.get('actor').access.mayInOrganization(organizationId, 'change_teams'));
        raised = await limits.raise(tx, owner, fields);
        return teamRows.update(tx, at, fields);
      };
      const changed = changes.update(c.get('actor'), (tx) => teamRows.get(tx, at), write);
      const team = await unlessTaken(NAMED, changed);
      await limits.bringIntoForce(owner, raised);
      return c.json(showTeam(team), 200);
    })
    .openapi(remove, async (c) => {
      const at = c.req.valid('param');
      if (at.id === DEFAULT_TEAM_ID) throw isDefault('team');
      let raised: Awaited<ReturnType<typeof raiseKeysOfMembers>> = [];
      await changes.remove(c.get('actor'), async (tx) => {
        if ((await countProjectsOfTeam(tx, at.id)) > 0) throw hasMore('team', 'projects');
        // Their roles may hold in other teams of the organization.
        raised = await raiseKeysOfMembers(tx, { teamId: at.id });
        return teamRows.delete(tx, at);
      });
      await mirror.apply(`members of ${at.id}`, () => raiseVersions(hotStore, raised));
      return c.body(null, 204);
    });
}

/** How teams are shown in a list, with their numbers. */
async function listed(db: Db, teams: readonly StoredTeam[]) {
  const { projects, members } = await countInTeams(
    db,
    teams.map((team) => team.id),
  );
  return (team: StoredTeam) => ({
    ...{ ...showTeam(team), projects: projects.get(team.id) ?? 0, members: members.get(team.id) ?? 0 },
  });
}

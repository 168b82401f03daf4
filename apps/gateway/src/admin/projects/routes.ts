import { z } from '@hono/zod-openapi';
import { GatewayError, invalidRequest } from '@llm0/core/errors/gateway-error';
import type { Db } from '@llm0/drizzle/client';
import { lockTeams, type RaisedVersions, raiseLevel, raiseTeams } from '@llm0/drizzle/queries/access/levels';
import {
  deletedProjectRows,
  deleteProject,
  projectRows,
  type StoredProject,
} from '@llm0/drizzle/queries/access/projects';
import { teamRows } from '@llm0/drizzle/queries/access/teams';
import { countShares } from '@llm0/drizzle/queries/limits/team-shares';
import { answers, createRouter, defineRoute, routesOf, takes } from '../admin-router';
import type { AdminServices } from '../admin-services';
import { AuditedChanges } from '../audit/audited-changes';
import type { HotStoreMirror } from '../customers/hot-store-mirror';
import { id, pageOf, pageQuery, projectIds, showPage } from '../fields/fields';
import { required, requireProject } from '../fields/find-or-refuse';
import { LevelLimits } from '../teams/level-limits';
import { newProjectSchema, projectChangesSchema, projectSchema, showProject, toProjectSettings } from './schema';

const at = routesOf('projects');
const params = z.object({ id });

const create = defineRoute({
  ...at('post', '/projects', 'Create a project'),
  request: { body: takes(newProjectSchema) },
  responses: { 201: answers(projectSchema, 'The new project') },
});
const list = defineRoute({
  ...at('get', '/projects', 'List projects, newest first'),
  request: {
    query: z.strictObject({
      project_id: projectIds,
      team_id: id.optional(),
      deleted: z.enum(['true', 'false']).optional().openapi({ description: 'true: deleted ones instead' }),
      ...pageQuery,
    }),
  },
  responses: { 200: answers(pageOf(projectSchema), 'Projects') },
});
const show = defineRoute({
  ...at('get', '/projects/{id}', 'Show a project'),
  request: { params },
  responses: { 200: answers(projectSchema, 'The project') },
});
const change = defineRoute({
  ...at('patch', '/projects/{id}', 'Change the given fields, from the next request'),
  request: { params, body: takes(projectChangesSchema) },
  responses: { 200: answers(projectSchema, 'The project as it is now') },
});
const remove = defineRoute({
  ...at('delete', '/projects/{id}', 'Delete a project; its keys stop working with the next request, its logs stay'),
  request: { params },
  responses: { 204: { description: 'Deleted' } },
});

type Needs = Pick<AdminServices, 'db' | 'hotStore'>;

export function projectRoutes({ db, hotStore }: Needs, mirror: HotStoreMirror) {
  const limits = new LevelLimits(hotStore, mirror);
  const changes = new AuditedChanges(db, {
    resource: 'project',
    idOf: (project) => project.id,
    show: showProject,
    goLive: ({ id: projectId, version }, action) => {
      const write = () => hotStore.setVersions(projectId, version, []);
      const name = `project ${projectId}`;
      return action === 'create' ? mirror.applyLater(name, write) : mirror.apply(name, write);
    },
  });
  const bringIntoForce = ({ teamId }: Pick<StoredProject, 'teamId'>, raised: readonly RaisedVersions[]) =>
    limits.bringIntoForce({ scope: 'team', levelId: teamId ?? '' }, raised);
  return createRouter()
    .openapi(create, async (c) => {
      const settings = toProjectSettings(c.req.valid('json'));
      await refuseUnknownTeam(db, settings.teamId);
      let raised: readonly RaisedVersions[] = [];
      const make = async (tx: Db) => {
        const made = refuseOpenStrictCaps(await projectRows.create(tx, settings));
        raised = await raiseShares(tx, made, settings);
        return made;
      };
      const project = await changes.create(c.get('actor'), make);
      await bringIntoForce(project, raised);
      return c.json(showProject(project), 201);
    })
    .openapi(list, async (c) => {
      const { project_id: ids, team_id: teamId, deleted, ...page } = c.req.valid('query');
      const rows = deleted === 'true' ? deletedProjectRows : projectRows;
      return c.json(showPage(await rows.list(db, page, { id: ids, teamId }), showProject), 200);
    })
    .openapi(show, async (c) => c.json(showProject(await requireProject(db, c.req.valid('param').id)), 200))
    .openapi(change, async (c) => {
      const at = c.req.valid('param');
      const settings = toProjectSettings(c.req.valid('json'));
      await refuseUnknownTeam(db, settings.teamId);
      let raised: readonly RaisedVersions[] = [];
      const write = async (tx: Db) => {
        if (readsTeam(settings)) await lockTeams(tx, [(await projectRows.get(tx, at))?.teamId, settings.teamId]);
        const before = await projectRows.get(tx, at);
        const updated = await projectRows.update(tx, at, settings);
        if (updated !== null && before !== null) raised = await raiseChanged(tx, { before, updated, settings });
        return updated && refuseOpenStrictCaps(updated);
      };
      const project = await changes.update(c.get('actor'), (tx) => projectRows.get(tx, at), write);
      await bringIntoForce(project, raised);
      return c.json(showProject(project), 200);
    })
    .openapi(remove, async (c) => {
      const at = c.req.valid('param');
      const raised: RaisedVersions[] = [];
      const hide = (tx: Db) => hideProject(tx, at.id, raised);
      await bringIntoForce(await changes.remove(c.get('actor'), hide, (tx) => projectRows.get(tx, at)), raised);
      return c.body(null, 204);
    });
}

interface Changed {
  readonly before: StoredProject;
  readonly updated: StoredProject;
  readonly settings: Parameters<typeof raiseShares>[2];
}

/** Adds the projects to `raised` that may spend its share now. */
async function hideProject(tx: Db, id: string, raised: RaisedVersions[]): Promise<StoredProject | null> {
  await lockTeams(tx, [(await projectRows.get(tx, { id }))?.teamId]);
  const deleted = await deleteProject(tx, id);
  if (deleted?.teamShareNanoUsd != null) raised.push(...(await raiseShares(tx, deleted, deleted)));
  return deleted;
}

/** True for a change after which other projects of the team, or of the former one, read it again. */
const readsTeam = ({ teamId, teamShareNanoUsd, teamOverdraft }: Partial<StoredProject>) =>
  [teamId, teamShareNanoUsd, teamOverdraft].some((field) => field !== undefined);

/** After a move, both teams count anew. */
const raiseChanged = (tx: Db, { before, updated, settings }: Changed): Promise<readonly RaisedVersions[]> =>
  updated.teamId === before.teamId
    ? raiseShares(tx, updated, settings)
    : raiseTeams(tx, [before.teamId, updated.teamId]);

/** Every request of a team reads its shares: more would make requests dear. */
const MOST_SHARES = 100;

/** All projects of the team read its shares again where one of them changed. */
async function raiseShares(
  tx: Db,
  { teamId }: Pick<StoredProject, 'teamId'>,
  changed: Partial<Pick<StoredProject, 'teamShareNanoUsd' | 'teamOverdraft'>>,
): Promise<readonly RaisedVersions[]> {
  const { teamShareNanoUsd: share, teamOverdraft: overdraft } = changed;
  if (teamId === null || (share === undefined && overdraft === undefined)) return [];
  if (share != null && (await countShares(tx, teamId)) > MOST_SHARES)
    throw invalidRequest('team_share_usd', `A team has at most ${MOST_SHARES} shares.`);
  return raiseLevel(tx, { scope: 'team', levelId: teamId }, 1);
}

async function refuseUnknownTeam(db: Db, teamId: string | null | undefined): Promise<void> {
  if (teamId != null) required(await teamRows.get(db, { id: teamId }), 'team');
}

/** Checks the updated row, so that two concurrent changes can't produce the forbidden pair. */
function refuseOpenStrictCaps(project: StoredProject): StoredProject {
  if (!project.strictCaps || project.onStoreFailure !== 'open') return project;
  const message = 'A project with strict_caps cannot have on_store_failure "open": its cap would not hold.';
  throw new GatewayError('invalid_request', message, { param: 'on_store_failure' });
}

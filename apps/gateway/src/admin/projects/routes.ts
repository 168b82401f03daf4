import { createRoute, z } from '@hono/zod-openapi';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import {
  createProject,
  deleteProject,
  listProjects,
  type StoredProject,
  updateProject,
} from '@llm0/drizzle/queries/access/projects';
import { answers, createRouter, routesOf, takes } from '../admin-router';
import type { AdminServices } from '../admin-services';
import { recordChange } from '../audit/record-change';
import type { HotStoreMirror } from '../customers/hot-store-mirror';
import { id, pageOf, pageQuery, showPage } from '../fields/fields';
import { notFound, required, requireProject } from '../fields/find-or-refuse';
import { newProjectSchema, projectChangesSchema, projectSchema, showProject, toProjectSettings } from './schema';

const at = routesOf('projects');
const params = z.object({ id });

const create = createRoute({
  ...at('post', '/projects', 'Make a project'),
  request: { body: takes(newProjectSchema) },
  responses: { 201: answers(projectSchema, 'The new project') },
});
const list = createRoute({
  ...at('get', '/projects', 'List projects, newest first'),
  request: { query: z.strictObject(pageQuery) },
  responses: { 200: answers(pageOf(projectSchema), 'Projects') },
});
const show = createRoute({
  ...at('get', '/projects/{id}', 'Show a project'),
  request: { params },
  responses: { 200: answers(projectSchema, 'The project') },
});
const change = createRoute({
  ...at('patch', '/projects/{id}', 'Change the fields sent; in force from the next request'),
  request: { params, body: takes(projectChangesSchema) },
  responses: { 200: answers(projectSchema, 'The project as it is now') },
});
const remove = createRoute({
  ...at('delete', '/projects/{id}', 'Delete a project; its keys are refused from the next request, its logs stay'),
  request: { params },
  responses: { 204: { description: 'Deleted' } },
});

type Needs = Pick<AdminServices, 'db' | 'hotStore'>;

export function projectRoutes(services: Needs, mirror: HotStoreMirror) {
  const { db, hotStore } = services;
  return createRouter()
    .openapi(create, async (c) => {
      const body = c.req.valid('json');
      const project = await recordChange(db, c.get('actor'), async (tx) => {
        const result = refuseOpenStrictCaps(await createProject(tx, { name: body.name, ...toProjectSettings(body) }));
        const resourceId = result.id;
        return { result, action: 'create', resource: 'project', resourceId, after: showProject(result) };
      });
      await mirror.applyLater(`project ${project.id}`, () => hotStore.setVersions(project.id, project.version, []));
      return c.json(showProject(project), 201);
    })
    .openapi(list, async (c) => c.json(showPage(await listProjects(db, c.req.valid('query')), showProject), 200))
    .openapi(show, async (c) => c.json(showProject(await requireProject(db, c.req.valid('param').id)), 200))
    .openapi(change, async (c) => {
      const { id: projectId } = c.req.valid('param');
      const body = c.req.valid('json');
      const project = await recordChange(db, c.get('actor'), async (tx) => {
        const before = showProject(await requireProject(tx, projectId));
        const updated = await updateProject(tx, projectId, { name: body.name, ...toProjectSettings(body) });
        const result = refuseOpenStrictCaps(required(updated, 'project'));
        const after = showProject(result);
        return { result, action: 'update', resource: 'project', resourceId: projectId, before, after };
      });
      await mirror.apply(`project ${projectId}`, () => hotStore.setVersions(projectId, project.version, []));
      return c.json(showProject(project), 200);
    })
    .openapi(remove, async (c) => {
      const { id: projectId } = c.req.valid('param');
      const { version } = await recordChange(db, c.get('actor'), async (tx) => {
        const before = showProject(await requireProject(tx, projectId));
        const result = await deleteProject(tx, projectId);
        if (result === null) throw notFound('project');
        return { result, action: 'delete', resource: 'project', resourceId: projectId, before };
      });
      await mirror.apply(`project ${projectId}`, () => hotStore.setVersions(projectId, version, []));
      return c.body(null, 204);
    });
}

/** Checked on the row as it is after the change, so that two changes at once cannot add up to the forbidden pair. */
function refuseOpenStrictCaps(project: StoredProject): StoredProject {
  if (!project.strictCaps || project.onStoreFailure !== 'open') return project;
  const message = 'A project with strict_caps cannot have on_store_failure "open": its cap would not hold.';
  throw new GatewayError('invalid_request', message, { param: 'on_store_failure' });
}

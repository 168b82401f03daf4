import { z } from '@hono/zod-openapi';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { annotationRows, happenedWithin } from '@llm0/drizzle/queries/annotations';
import { answers, createRouter, defineRoute, routesOf, takes } from '../admin-router';
import type { AdminServices } from '../admin-services';
import { AuditedChanges } from '../audit/audited-changes';
import { id, pageOf, pageQuery, projectIds, queryInstant, showPage } from '../fields/fields';
import { requireProject } from '../fields/find-or-refuse';
import { listTimeline } from './list-timeline';
import { annotationSchema, eventSchema, newAnnotationSchema, showAnnotation } from './schema';

const at = routesOf('history');

const create = defineRoute({
  ...at('post', '/annotations', 'Mark a deploy, an incident or a note in charts'),
  request: { body: takes(newAnnotationSchema) },
  responses: { 201: answers(annotationSchema, 'The new annotation') },
});
const list = defineRoute({
  ...at('get', '/annotations', 'List annotations of a range, the latest first'),
  request: {
    query: z.strictObject({
      from: queryInstant.optional(),
      to: queryInstant.optional().openapi({ description: 'Exclusive' }),
      kind: annotationSchema.shape.kind.optional(),
      project_id: projectIds,
      ...pageQuery,
    }),
  },
  responses: { 200: answers(pageOf(annotationSchema), 'Annotations') },
});
const remove = defineRoute({
  ...at('delete', '/annotations/{id}', 'Delete an annotation'),
  request: { params: z.object({ id }) },
  responses: { 204: { description: 'Deleted' } },
});
const timeline = defineRoute({
  ...at('get', '/timeline', 'List events of a range: annotations, changes of keys, limits and routes, starts'),
  request: {
    query: z.strictObject({
      from: queryInstant,
      to: queryInstant.openapi({ description: 'Exclusive' }),
      project_id: projectIds.openapi({ description: 'Excludes events of other projects' }),
    }),
  },
  responses: {
    200: answers(z.object({ data: z.array(eventSchema) }), 'Newest first, at most 200 of each source'),
  },
});

export function annotationRoutes({ db }: Pick<AdminServices, 'db'>) {
  const changes = new AuditedChanges(db, { resource: 'annotation', idOf: (one) => one.id, show: showAnnotation });
  return createRouter()
    .openapi(create, async (c) => {
      const { at: atMs, project_id: projectId = null, ...body } = c.req.valid('json');
      const actor = c.get('actor');
      const made = await changes.create(actor, async (tx) => {
        if (projectId !== null) await requireProject(tx, projectId);
        return annotationRows.create(tx, {
          ...body,
          projectId,
          actor: actor.name,
          ...(atMs === undefined ? {} : { atMs }),
        });
      });
      return c.json(showAnnotation(made), 201);
    })
    .openapi(list, async (c) => {
      const { from: fromMs, to: toMs, kind, project_id: projectId, ...page } = c.req.valid('query');
      const found = await annotationRows.list(db, page, { kind, projectId }, happenedWithin({ fromMs, toMs }));
      return c.json(showPage(found, showAnnotation), 200);
    })
    .openapi(remove, async (c) => {
      await changes.remove(c.get('actor'), (tx) => annotationRows.delete(tx, c.req.valid('param')));
      return c.body(null, 204);
    })
    .openapi(timeline, async (c) => {
      const { from: fromMs, to: toMs, project_id: projectId } = c.req.valid('query');
      if (toMs <= fromMs) throw new GatewayError('invalid_request', 'to: must be later than from.', { param: 'to' });
      return c.json({ data: [...(await listTimeline(db, { fromMs, toMs, projectId }))] }, 200);
    });
}

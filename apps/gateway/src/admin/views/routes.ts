import { z } from '@hono/zod-openapi';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { Db } from '@llm0/drizzle/client';
import { savedViewRows } from '@llm0/drizzle/queries/saved-views';
import { sqlState } from '@llm0/drizzle/sql-state';
import { answers, createRouter, defineRoute, routesOf, takes } from '../admin-router';
import type { AdminServices } from '../admin-services';
import { AuditedChanges } from '../audit/audited-changes';
import { id, pageOf, pageQuery, showPage } from '../fields/fields';
import { required } from '../fields/find-or-refuse';
import { readFields } from '../fields/map-fields';
import { newViewSchema, showView, viewChangesSchema, viewSchema } from './schema';

const at = routesOf('logs');
const params = z.object({ id });

const create = defineRoute({
  ...at('post', '/views', 'Save a shared view of the requests'),
  request: { body: takes(newViewSchema) },
  responses: { 201: answers(viewSchema, 'The new view') },
});
const list = defineRoute({
  ...at('get', '/views', 'List saved views, newest first'),
  request: { query: z.strictObject(pageQuery) },
  responses: { 200: answers(pageOf(viewSchema), 'Views') },
});
const show = defineRoute({
  ...at('get', '/views/{id}', 'Show a saved view'),
  request: { params },
  responses: { 200: answers(viewSchema, 'The view') },
});
const change = defineRoute({
  ...at('patch', '/views/{id}', 'Change a saved view'),
  request: { params, body: takes(viewChangesSchema) },
  responses: { 200: answers(viewSchema, 'The view as it is now') },
});
const remove = defineRoute({
  ...at('delete', '/views/{id}', 'Delete a saved view'),
  request: { params },
  responses: { 204: { description: 'Deleted' } },
});

export function viewRoutes({ db }: Pick<AdminServices, 'db'>) {
  const changes = new AuditedChanges(db, {
    ...{ resource: 'saved_view', what: 'saved view' },
    idOf: (view) => view.id,
    show: showView,
  });
  return createRouter()
    .openapi(create, async (c) => {
      const body = c.req.valid('json');
      const actor = c.get('actor');
      const make = (tx: Db) => savedViewRows.create(tx, { ...body, createdBy: actor.name });
      return c.json(showView(await refusingTaken(body.name, () => changes.create(actor, make))), 201);
    })
    .openapi(list, async (c) => c.json(showPage(await savedViewRows.list(db, c.req.valid('query')), showView), 200))
    .openapi(show, async (c) =>
      c.json(showView(required(await savedViewRows.get(db, c.req.valid('param')), 'saved view')), 200),
    )
    .openapi(change, async (c) => {
      const at = c.req.valid('param');
      const body = readFields(c.req.valid('json'));
      const find = (tx: Db) => savedViewRows.get(tx, at);
      const write = (tx: Db) => savedViewRows.update(tx, at, body);
      const view = await refusingTaken(body.name, () => changes.update(c.get('actor'), find, write));
      return c.json(showView(view), 200);
    })
    .openapi(remove, async (c) => {
      await changes.remove(c.get('actor'), (tx) => savedViewRows.delete(tx, c.req.valid('param')));
      return c.body(null, 204);
    });
}

/** SQLSTATE unique_violation. */
const TAKEN = '23505';

async function refusingTaken<T>(name: string | undefined, change: () => Promise<T>): Promise<T> {
  try {
    return await change();
  } catch (cause) {
    if (sqlState(cause) !== TAKEN) throw cause;
    const message = `A view "${name}" already exists. Update it, or choose another name.`;
    throw new GatewayError('conflict', message, { param: 'name', cause });
  }
}

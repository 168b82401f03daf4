import { z } from '@hono/zod-openapi';
import { GatewayError, invalidRequest } from '@llm0/core/errors/gateway-error';
import {
  endLease,
  findLease,
  listManaged,
  listManagers,
  listManagersOfKind,
  type ManagedResource,
  renewLease,
  takeLease,
} from '@llm0/drizzle/queries/access/applies';
import { answers, createRouter, defineRoute, routesOf, takes } from '../admin-router';
import type { AdminServices } from '../admin-services';
import { id, pageQuery, text } from '../fields/fields';
import { required } from '../fields/find-or-refuse';
import { readCursor, writeCursor } from '../fields/name-cursor';
import { applyName, applySchema, managedPage, newApplySchema, showApply, showManaged } from './schema';

/** A process that dies blocks the next apply for no longer. */
const LEASE_MS = 15_000;

const at = routesOf('applies');
const params = z.object({ id });

const begin = defineRoute({
  ...at('post', '/applies', `Begin to apply a configuration file; ends after ${LEASE_MS / 1000} s unless renewed`),
  request: { body: takes(newApplySchema) },
  responses: { 201: answers(applySchema, 'The apply; while another one runs, 409') },
});
const renew = defineRoute({
  ...at('put', '/applies/{id}', 'Renew a running apply'),
  request: { params },
  responses: { 200: answers(applySchema, 'The apply; if it has ended, 404') },
});
const end = defineRoute({
  ...at('delete', '/applies/{id}', 'End an apply'),
  request: { params },
  responses: { 204: { description: 'Ended' } },
});
const managedQuery = z.strictObject({
  apply_name: applyName.optional(),
  resource: text().optional().openapi({ description: 'Instead of apply_name: what manages such resources' }),
  resource_id: text(1000).optional().openapi({ description: 'With resource: what manages this one' }),
  ...pageQuery,
});
const list = defineRoute({
  ...at('get', '/managed-resources', 'List the resources of an apply, or what manages resources of a kind'),
  request: { query: managedQuery },
  responses: { 200: answers(managedPage, 'Resources, created or changed by it') },
});

export function applyRoutes({ db }: Pick<AdminServices, 'db'>) {
  return createRouter()
    .openapi(begin, async (c) => {
      const lease = { id: crypto.randomUUID(), applyName: c.req.valid('json').apply_name, actor: c.get('actor').name };
      const taken = await takeLease(db, { ...lease, leaseMs: LEASE_MS });
      if (taken !== null) return c.json(showApply(taken), 201);
      const running = await findLease(db);
      const whose = running === null ? 'Another apply' : `The apply "${running.applyName}" of ${running.actor}`;
      throw new GatewayError('conflict', `${whose} is running. Try again after it.`, { retryAfterMs: 1000 });
    })
    .openapi(renew, async (c) => {
      const renewed = await renewLease(db, c.req.valid('param').id, LEASE_MS);
      return c.json(showApply(required(renewed, 'running apply')), 200);
    })
    .openapi(end, async (c) => {
      await endLease(db, c.req.valid('param').id);
      return c.body(null, 204);
    })
    .openapi(list, async (c) => {
      const { apply_name: name, resource, resource_id: resourceId, limit, cursor } = c.req.valid('query');
      const withDigest = c.get('actor').may('change_system');
      const show = (one: ManagedResource) => showManaged(one, withDigest);
      if (name === undefined && resource === undefined) {
        throw invalidRequest('apply_name', 'apply_name or resource is required.');
      }
      if (name === undefined && resource !== undefined && resourceId !== undefined) {
        const data = await listManagers(db, { resource, resourceId });
        return c.json({ data: data.map(show), next_cursor: null }, 200);
      }
      const page = { limit: limit + 1, after: cursor === undefined ? undefined : readCursor(cursor) };
      const found =
        name === undefined ? await listManagersOfKind(db, resource ?? '', page) : await listManaged(db, name, page);
      const data = found.slice(0, limit);
      const last = data.at(-1);
      if (found.length <= limit || last === undefined) return c.json({ data: data.map(show), next_cursor: null }, 200);
      const { resource: kind, resourceId: id, applyName } = last;
      const next = writeCursor(name === undefined ? [id, applyName] : [kind, id]);
      return c.json({ data: data.map(show), next_cursor: next }, 200);
    });
}

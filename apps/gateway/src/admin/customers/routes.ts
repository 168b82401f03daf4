import { z } from '@hono/zod-openapi';
import type { Db } from '@llm0/drizzle/client';
import {
  type CustomerPath,
  limitRows,
  putCustomerLimits,
  type StoredCustomerLimits,
} from '@llm0/drizzle/queries/limits/customer-limits';
import { answers, createRouter, defineRoute, takes } from '../admin-router';
import type { AdminServices } from '../admin-services';
import { AuditedChanges } from '../audit/audited-changes';
import { id, text } from '../fields/fields';
import { required, requireProject } from '../fields/find-or-refuse';
import type { HotStoreMirror } from './hot-store-mirror';
import { mirrorLimits } from './mirror-limits';
import { customerLimitsBodySchema, customerLimitsSchema, showCustomerLimits, toLimitColumns } from './schema';

const WHAT = 'customer with limits';
const tags = ['customers'];
const path = '/projects/{id}/customers/{customer_id}/limits';
/** Maximum of `X-Customer-ID`. */
const MAX_CUSTOMER_ID_LENGTH = 256;
const params = z.object({
  id,
  customer_id: text(MAX_CUSTOMER_ID_LENGTH).openapi({ description: 'Percent-encoded; any characters' }),
});

const show = defineRoute({
  method: 'get',
  path,
  tags,
  summary: "Show a customer's limits",
  request: { params },
  responses: { 200: answers(customerLimitsSchema, 'The limits') },
});
const put = defineRoute({
  method: 'put',
  path,
  tags,
  summary: "Replace a customer's limits; omitted fields mean no limit",
  request: { params, body: takes(customerLimitsBodySchema) },
  responses: { 200: answers(customerLimitsSchema, 'The limits as they are now') },
});
const remove = defineRoute({
  method: 'delete',
  path,
  tags,
  summary: "Remove a customer's limits; its spend stays",
  request: { params },
  responses: { 204: { description: 'Removed' } },
});

type Needs = Pick<AdminServices, 'db' | 'hotStore'>;

export function customerRoutes(services: Needs, mirror: HotStoreMirror, forgetLists: () => void) {
  const { db } = services;
  const changes = new AuditedChanges(db, {
    resource: 'customer_limits',
    what: WHAT,
    idOf: ({ projectId, customerId }) => `${projectId}/${customerId}`,
    show: showCustomerLimits,
    goLive: ({ projectId, customerId }) => {
      forgetLists();
      return mirror.apply(`customer ${projectId} ${customerId}`, () =>
        mirrorLimits(services, { projectId, customerId }),
      );
    },
  });
  return createRouter()
    .openapi(show, async (c) => {
      const found = await findLimits(db, customerPath(c.req.valid('param')));
      return c.json(showCustomerLimits(required(found, WHAT)), 200);
    })
    .openapi(put, async (c) => {
      const at = customerPath(c.req.valid('param'));
      const limits = toLimitColumns(c.req.valid('json'));
      const write = (tx: Db) => putCustomerLimits(tx, at, limits);
      return c.json(showCustomerLimits(await changes.put(c.get('actor'), (tx) => findLimits(tx, at), write)), 200);
    })
    .openapi(remove, async (c) => {
      const at = customerPath(c.req.valid('param'));
      await changes.remove(c.get('actor'), async (tx) => {
        await requireProject(tx, at.projectId);
        return limitRows.delete(tx, at);
      });
      return c.body(null, 204);
    });
}

/** Throws `not_found` without the project. */
async function findLimits(db: Db, at: CustomerPath): Promise<StoredCustomerLimits | null> {
  await requireProject(db, at.projectId);
  return limitRows.get(db, at);
}

const customerPath = (param: { id: string; customer_id: string }): CustomerPath => ({
  projectId: param.id,
  customerId: param.customer_id,
});

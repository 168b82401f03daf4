import { createRoute, z } from '@hono/zod-openapi';
import {
  type CustomerPath,
  deleteCustomerLimits,
  getCustomerLimits,
  putCustomerLimits,
} from '@llm0/drizzle/queries/limits/customer-limits';
import { answers, createRouter, takes } from '../admin-router';
import type { AdminServices } from '../admin-services';
import { recordChange } from '../audit/record-change';
import { id, text } from '../fields/fields';
import { notFound, required, requireProject } from '../fields/find-or-refuse';
import type { HotStoreMirror } from './hot-store-mirror';
import { mirrorLimits } from './mirror-limits';
import { customerLimitsBodySchema, customerLimitsSchema, showCustomerLimits, toCustomerLimits } from './schema';

const tags = ['customers'];
const path = '/projects/{id}/customers/{customer_id}/limits';
/** As long as `X-Customer-ID` may be. */
const MAX_CUSTOMER_ID_LENGTH = 256;
const params = z.object({
  id,
  customer_id: text(MAX_CUSTOMER_ID_LENGTH).openapi({ description: 'Percent-encoded; any characters' }),
});

const show = createRoute({
  method: 'get',
  path,
  tags,
  summary: "Show a customer's limits",
  request: { params },
  responses: { 200: answers(customerLimitsSchema, 'The limits') },
});
const put = createRoute({
  method: 'put',
  path,
  tags,
  summary: "Set all of a customer's limits; what is left out is no limit",
  request: { params, body: takes(customerLimitsBodySchema) },
  responses: { 200: answers(customerLimitsSchema, 'The limits as they are now') },
});
const remove = createRoute({
  method: 'delete',
  path,
  tags,
  summary: "Remove a customer's limits; the spend stays counted",
  request: { params },
  responses: { 204: { description: 'Removed' } },
});

type Needs = Pick<AdminServices, 'db' | 'hotStore'>;

export function customerRoutes(services: Needs, mirror: HotStoreMirror) {
  const { db } = services;
  const bringIntoForce = (at: CustomerPath) =>
    mirror.apply(`customer ${at.projectId} ${at.customerId}`, () => mirrorLimits(services, at));
  return createRouter()
    .openapi(show, async (c) => {
      const at = customerPath(c.req.valid('param'));
      await requireProject(db, at.projectId);
      return c.json(showCustomerLimits(required(await getCustomerLimits(db, at), 'customer with limits')), 200);
    })
    .openapi(put, async (c) => {
      const at = customerPath(c.req.valid('param'));
      const limits = toCustomerLimits(c.req.valid('json'));
      const stored = await recordChange(db, c.get('actor'), async (tx) => {
        await requireProject(tx, at.projectId);
        const existing = await getCustomerLimits(tx, at);
        const result = await putCustomerLimits(tx, at, limits);
        return {
          result,
          action: existing === null ? 'create' : 'update',
          ...auditName(at),
          before: existing && showCustomerLimits(existing),
          after: showCustomerLimits(result),
        };
      });
      await bringIntoForce(at);
      return c.json(showCustomerLimits(stored), 200);
    })
    .openapi(remove, async (c) => {
      const at = customerPath(c.req.valid('param'));
      await recordChange(db, c.get('actor'), async (tx) => {
        await requireProject(tx, at.projectId);
        const before = showCustomerLimits(required(await getCustomerLimits(tx, at), 'customer with limits'));
        if (!(await deleteCustomerLimits(tx, at))) throw notFound('customer with limits');
        return { result: null, action: 'delete', ...auditName(at), before };
      });
      await bringIntoForce(at);
      return c.body(null, 204);
    });
}

const customerPath = (param: { id: string; customer_id: string }): CustomerPath => ({
  projectId: param.id,
  customerId: param.customer_id,
});

const auditName = (at: CustomerPath) => ({
  resource: 'customer_limits',
  resourceId: `${at.projectId}/${at.customerId}`,
});

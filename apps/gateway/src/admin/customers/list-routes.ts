import { createRoute, z } from '@hono/zod-openapi';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { type CustomerUsage, listCustomers } from '@llm0/drizzle/queries/limits/customers';
import { answers, createRouter } from '../admin-router';
import type { AdminServices } from '../admin-services';
import { id, pageOf, pageQuery, queryInstant, text, usdShown } from '../fields/fields';
import { showFields } from '../fields/map-fields';

const DEFAULT_RANGE_MS = 30 * 86_400_000;

const customerSchema = z
  .object({
    project_id: id,
    customer_id: z.string(),
    requests: z.int(),
    tokens_in: z.int(),
    tokens_out: z.int(),
    cost_usd: usdShown,
    saved_usd: usdShown,
    today_usd: usdShown,
    month_usd: usdShown,
    has_limits: z.boolean(),
    daily_spend_limit_usd: usdShown.nullable(),
    monthly_spend_limit_usd: usdShown.nullable(),
  })
  .openapi('Customer');

const list = createRoute({
  method: 'get',
  path: '/customers',
  tags: ['customers'],
  summary: 'Customers with what they spent in a range of whole UTC days, the dearest first',
  request: {
    query: z.strictObject({
      from: queryInstant.optional().openapi({ description: 'By default 30 days before `to`' }),
      to: queryInstant.optional(),
      project_id: id.optional(),
      q: text(256).optional().openapi({ description: 'Part of the customer id' }),
      ...pageQuery,
    }),
  },
  responses: { 200: answers(pageOf(customerSchema), 'Customers') },
});

export function customerListRoutes({ db, clock }: Pick<AdminServices, 'db' | 'clock'>) {
  return createRouter().openapi(list, async (c) => {
    const { from, to, project_id: projectId, q, limit, cursor } = c.req.valid('query');
    const nowMs = clock.nowMs();
    const toMs = to ?? nowMs;
    const offset = cursor === undefined ? 0 : readOffset(cursor);
    const range = { fromMs: from ?? toMs - DEFAULT_RANGE_MS, toMs, nowMs };
    const rows = await listCustomers(db, { ...range, projectId, q, limit: limit + 1, offset });
    const next = rows.length > limit ? Buffer.from(String(offset + limit)).toString('base64url') : null;
    return c.json({ data: rows.slice(0, limit).map(showCustomer), next_cursor: next }, 200);
  });
}

function readOffset(cursor: string): number {
  const text = Buffer.from(cursor, 'base64url').toString();
  if (/^\d{1,9}$/.test(text)) return Number(text);
  const message = 'cursor is not one this API gave out: use next_cursor of the page before.';
  throw new GatewayError('invalid_request', message, { param: 'cursor' });
}

const showCustomer = (usage: CustomerUsage) => showFields(customerSchema, usage);

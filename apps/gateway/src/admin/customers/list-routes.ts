import { z } from '@hono/zod-openapi';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { answers, createRouter, defineRoute } from '../admin-router';
import type { AdminServices } from '../admin-services';
import { pageOf, pageQuery, projectIds, queryInstant, text } from '../fields/fields';
import { spendDays } from '../fields/spend-days';
import type { AnswerKept } from '../stats/keep-answers';
import { customerSchema } from './listed-customers';

const DAY_MS = 86_400_000;
const DEFAULT_RANGE_MS = 30 * DAY_MS;

const pageSchema = pageOf(customerSchema);
const list = defineRoute({
  method: 'get',
  path: '/customers',
  tags: ['customers'],
  summary: 'Customers by spend in a range of whole UTC days',
  request: {
    query: z.strictObject({
      from: queryInstant.optional().openapi({ description: 'Default: 30 days before `to`' }),
      to: queryInstant.optional(),
      project_id: projectIds,
      q: text(256).optional().openapi({ description: 'Substring of the customer id' }),
      has_limits: z
        .enum(['true', 'false'])
        .optional()
        .openapi({ description: 'Only customers with their own limits, or only those without' }),
      spend_days: spendDays,
      ...pageQuery,
    }),
  },
  responses: { 200: answers(pageSchema, 'Customers') },
});

export function customerListRoutes({ clock }: Pick<AdminServices, 'clock'>, answer: AnswerKept) {
  return createRouter().openapi(list, async (c) => {
    const { from, to, project_id: projectId, q, has_limits: wanted, limit, cursor, ...rest } = c.req.valid('query');
    const nowMs = clock.nowMs();
    const toMs = to ?? nowMs;
    const days = { fromMs: startOfDay(from ?? toMs - DEFAULT_RANGE_MS), toMs: startOfDay(toMs), nowMs };
    const hasLimits = wanted === undefined ? undefined : wanted === 'true';
    const offset = cursor === undefined ? 0 : readOffset(cursor);
    const query = { ...days, projectId, q, hasLimits, limit, offset };
    return answer(c, { kind: 'customers', query, spendDays: rest.spend_days });
  });
}

/** Whole days, so that equal queries share an answer. */
const startOfDay = (ms: number) => ms - (ms % DAY_MS);

function readOffset(cursor: string): number {
  const text = Buffer.from(cursor, 'base64url').toString();
  if (/^\d{1,9}$/.test(text)) return Number(text);
  const message = 'cursor is not one this API gave out: use next_cursor of the page before.';
  throw new GatewayError('invalid_request', message, { param: 'cursor' });
}

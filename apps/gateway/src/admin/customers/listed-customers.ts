import { z } from '@hono/zod-openapi';
import type { CustomerUsage } from '@llm0/drizzle/queries/limits/customers';
import { id, usdShown } from '../fields/fields';
import { showFields } from '../fields/map-fields';
import { spendByDay } from '../fields/spend-days';

export const customerSchema = z
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
    spend_by_day: spendByDay,
  })
  .openapi('Customer');

interface ListedCustomer extends CustomerUsage {
  readonly spendByDay: readonly number[] | null;
}

/** A page of customers: `limit` rows, plus one if another page follows. */
export function showCustomerPage(
  rows: readonly ListedCustomer[],
  { limit, offset }: { limit: number; offset: number },
) {
  const next = rows.length > limit ? Buffer.from(String(offset + limit)).toString('base64url') : null;
  return { data: rows.slice(0, limit).map((usage) => showFields(customerSchema, usage)), next_cursor: next };
}

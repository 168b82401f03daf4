import { z } from '@hono/zod-openapi';
import {
  type LimitColumns,
  limitedModels,
  type StoredCustomerLimits,
} from '@llm0/drizzle/queries/limits/customer-limits';
import { count, id, instantShown, text, usdOrNull, usdShown } from '../fields/fields';
import { readFields, showFields } from '../fields/map-fields';

const ON_LIMIT = ['block', 'downgrade', 'warn'] as const;
const MAX_MODELS = 200;

export const customerLimitsBodySchema = z
  .strictObject({
    daily_spend_limit_usd: usdOrNull,
    monthly_spend_limit_usd: usdOrNull,
    per_request_max_usd: usdOrNull,
    requests_per_minute: count().nullish(),
    requests_per_hour: count().nullish(),
    requests_per_day: count().nullish(),
    model_limits: z
      .record(text(), z.strictObject({ requests_per_day: count(0).nullish() }))
      .refine((models) => Object.keys(models).length <= MAX_MODELS, `must have at most ${MAX_MODELS} models`)
      .nullish(),
    on_limit_behavior: z.enum(ON_LIMIT).optional().openapi({ default: 'block' }),
    downgrade_model: text().nullish(),
  })
  .refine((body) => body.on_limit_behavior !== 'downgrade' || typeof body.downgrade_model === 'string', {
    path: ['downgrade_model'],
    message: 'is needed with on_limit_behavior "downgrade"',
  })
  .openapi('CustomerLimitsInput');

export const customerLimitsSchema = z
  .object({
    project_id: id,
    customer_id: z.string(),
    daily_spend_limit_usd: usdShown.nullable(),
    monthly_spend_limit_usd: usdShown.nullable(),
    per_request_max_usd: usdShown.nullable(),
    requests_per_minute: z.int().nullable(),
    requests_per_hour: z.int().nullable(),
    requests_per_day: z.int().nullable(),
    model_limits: z.record(z.string(), z.object({ requests_per_day: z.int() })),
    on_limit_behavior: z.enum(ON_LIMIT),
    downgrade_model: z.string().nullable(),
    created_at: instantShown,
    updated_at: instantShown,
  })
  .openapi('CustomerLimits');

const NO_LIMITS = {
  dailySpendLimitNanoUsd: null,
  monthlySpendLimitNanoUsd: null,
  perRequestMaxNanoUsd: null,
  requestsPerMinute: null,
  requestsPerHour: null,
  requestsPerDay: null,
  onLimitBehavior: 'block',
  downgradeModel: null,
} as const satisfies LimitColumns;

/** A missing field removes the limit. */
export function toLimitColumns({ model_limits: models, ...body }: z.output<typeof customerLimitsBodySchema>) {
  return { ...NO_LIMITS, ...readFields(body), modelLimits: limitedModels(models ?? {}) };
}

export const showCustomerLimits = (stored: StoredCustomerLimits) =>
  showFields(customerLimitsSchema, { ...stored, modelLimits: limitedModels(stored.modelLimits) });

import { z } from '@hono/zod-openapi';
import type { CustomerLimits } from '@llm0/core/limits/hot-store';
import type { StoredCustomerLimits } from '@llm0/drizzle/queries/limits/customer-limits';
import { count, id, instantShown, text, usd, usdShown } from '../fields/fields';
import { showFields } from '../fields/map-fields';

const ON_LIMIT = ['block', 'downgrade', 'warn'] as const;
const MAX_MODELS = 200;

export const customerLimitsBodySchema = z
  .strictObject({
    daily_spend_limit_usd: usd.nullish(),
    monthly_spend_limit_usd: usd.nullish(),
    per_request_max_usd: usd.nullish(),
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

export function toCustomerLimits(body: z.output<typeof customerLimitsBodySchema>): CustomerLimits {
  const modelRequestsPerDay: Record<string, number> = {};
  for (const [model, limits] of Object.entries(body.model_limits ?? {})) {
    if (limits.requests_per_day != null) modelRequestsPerDay[model] = limits.requests_per_day;
  }
  return {
    dailySpendNanoUsd: body.daily_spend_limit_usd ?? null,
    monthlySpendNanoUsd: body.monthly_spend_limit_usd ?? null,
    perRequestMaxNanoUsd: body.per_request_max_usd ?? null,
    requestsPerMinute: body.requests_per_minute ?? null,
    requestsPerHour: body.requests_per_hour ?? null,
    requestsPerDay: body.requests_per_day ?? null,
    modelRequestsPerDay,
    onLimit: body.on_limit_behavior ?? 'block',
    downgradeModel: body.downgrade_model ?? null,
  };
}

export function showCustomerLimits({ limits, ...stored }: StoredCustomerLimits) {
  const { dailySpendNanoUsd, monthlySpendNanoUsd, onLimit, modelRequestsPerDay, ...rest } = limits;
  const modelLimits = Object.entries(modelRequestsPerDay).map(([model, perDay]) => [
    model,
    { requests_per_day: perDay },
  ]);
  return showFields(customerLimitsSchema, {
    ...stored,
    ...rest,
    dailySpendLimitNanoUsd: dailySpendNanoUsd,
    monthlySpendLimitNanoUsd: monthlySpendNanoUsd,
    onLimitBehavior: onLimit,
    modelLimits: Object.fromEntries(modelLimits),
  });
}

import { z } from '@hono/zod-openapi';
import type { ApiKeySettings, StoredApiKey } from '@llm0/drizzle/queries/access/api-keys';
import type { KeyUsage } from '@llm0/drizzle/queries/access/key-usage';
import { count, id, instant, instantShown, text, usd, usdShown } from '../fields/fields';
import { jsonUsd, jsonUsdOrNull } from '../fields/json-money';
import { showInstant, showInstantOrNull } from '../fields/show-fields';

const DEFAULT_REQUESTS_PER_MINUTE = 60;
const MAX_ALLOWED_MODELS = 1000;

const settings = {
  rate_limit_per_minute: count()
    .nullish()
    .openapi({ default: DEFAULT_REQUESTS_PER_MINUTE, description: 'null = none' }),
  rate_limit_burst: count().nullish().openapi({ description: 'null = the same as rate_limit_per_minute' }),
  tokens_per_minute: count().nullish(),
  max_concurrency: count().nullish(),
  allowed_models: z
    .array(text())
    .min(1, 'must name at least one model; null allows every model')
    .max(MAX_ALLOWED_MODELS, `must have at most ${MAX_ALLOWED_MODELS} models`)
    .nullish()
    .openapi({ description: 'null = every model' }),
  expires_at: instant.nullish(),
  budget_usd: usd.nullish(),
  budget_period: z.enum(['total', 'month']).optional().openapi({ default: 'total' }),
};

export const newKeySchema = z.strictObject({ name: text(), ...settings }).openapi('NewKey');
export const keyChangesSchema = z
  .strictObject({ name: text().optional(), ...settings, is_active: z.boolean().optional() })
  .openapi('KeyChanges');

const shown = z.object({
  id,
  project_id: id,
  name: z.string(),
  prefix: z.string().openapi({ description: 'The first characters of the key, to recognise it by' }),
  is_active: z.boolean(),
  rate_limit_per_minute: z.int().nullable(),
  rate_limit_burst: z.int().nullable(),
  tokens_per_minute: z.int().nullable(),
  max_concurrency: z.int().nullable(),
  allowed_models: z.array(z.string()).nullable(),
  expires_at: instantShown.nullable(),
  budget_usd: usdShown.nullable(),
  budget_period: z.enum(['total', 'month']),
  created_at: instantShown,
  updated_at: instantShown,
});

export const keySchema = shown.openapi('Key');
export const listedKeySchema = shown
  .extend({
    requests: z.int().openapi({ description: 'All of its requests' }),
    spent_usd: usdShown.openapi({ description: 'All it has spent' }),
  })
  .openapi('ListedKey');
export const keyWithSecretSchema = shown
  .extend({ key: z.string().openapi({ description: 'The secret: shown this once, only its SHA-256 is kept' }) })
  .openapi('KeyWithSecret');

/** Fields that were not sent stay undefined: unchanged, or the default. */
export function toKeySettings(body: z.output<typeof keyChangesSchema>): ApiKeySettings {
  return {
    rateLimitPerMinute: body.rate_limit_per_minute,
    rateLimitBurst: body.rate_limit_burst,
    tokensPerMinute: body.tokens_per_minute,
    maxConcurrency: body.max_concurrency,
    allowedModels: body.allowed_models,
    expiresAtMs: body.expires_at,
    budgetNanoUsd: body.budget_usd,
    budgetPeriod: body.budget_period,
    isActive: body.is_active,
  };
}

export function toNewKeySettings(body: z.output<typeof newKeySchema>): ApiKeySettings {
  const perMinute = body.rate_limit_per_minute;
  return {
    ...toKeySettings(body),
    rateLimitPerMinute: perMinute === undefined ? DEFAULT_REQUESTS_PER_MINUTE : perMinute,
  };
}

export function showKey(key: StoredApiKey): z.output<typeof keySchema> {
  return {
    id: key.id,
    project_id: key.projectId,
    name: key.name,
    prefix: key.prefix,
    is_active: key.isActive,
    rate_limit_per_minute: key.rateLimitPerMinute,
    rate_limit_burst: key.rateLimitBurst,
    tokens_per_minute: key.tokensPerMinute,
    max_concurrency: key.maxConcurrency,
    allowed_models: key.allowedModels === null ? null : [...key.allowedModels],
    expires_at: showInstantOrNull(key.expiresAtMs),
    budget_usd: jsonUsdOrNull(key.budgetNanoUsd),
    budget_period: key.budgetPeriod,
    created_at: showInstant(key.createdAtMs),
    updated_at: showInstant(key.updatedAtMs),
  };
}

export function showListedKey(key: StoredApiKey, usage: KeyUsage | undefined): z.output<typeof listedKeySchema> {
  return { ...showKey(key), requests: usage?.requests ?? 0, spent_usd: jsonUsd(usage?.costNanoUsd ?? 0) };
}

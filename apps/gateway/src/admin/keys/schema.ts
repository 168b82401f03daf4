import { z } from '@hono/zod-openapi';
import { isKeySecret } from '@llm0/core/keys/api-key';
import { FAILOVER_SETTINGS } from '@llm0/core/routing/failover-mode';
import type { StoredApiKey } from '@llm0/drizzle/queries/access/api-keys';
import type { KeyUsage } from '@llm0/drizzle/queries/access/key-usage';
import {
  count,
  id,
  instantOrNull,
  instantShown,
  labels,
  modelList,
  passthrough,
  periodBudgets,
  periodBudgetsShown,
  providerList,
  runBudgets,
  runBudgetsShown,
  text,
  toolPatterns,
  usdOrNull,
  usdShown,
} from '../fields/fields';
import { readFields, showFields } from '../fields/map-fields';
import { spendByDay } from '../fields/spend-days';
import { guardrailRules, ruleSchema, showRule } from '../guardrails/schema';

const DEFAULT_REQUESTS_PER_MINUTE = 60;

/** Chosen by the operator, as for a file that describes the key. */
const givenKey = z
  .string()
  .refine(isKeySecret, 'must be llm0_live_ and 64 random lower-case hex digits')
  .openapi({ writeOnly: true, description: 'A secret of your own; by default the gateway makes one' });

const settings = {
  user_id: id.nullish().openapi({ description: 'The person who uses the key; null = nobody in particular' }),
  rate_limit_per_minute: count()
    .nullish()
    .openapi({ default: DEFAULT_REQUESTS_PER_MINUTE, description: 'null = none' }),
  rate_limit_burst: count().nullish().openapi({ description: 'null = the same as rate_limit_per_minute' }),
  tokens_per_minute: count().nullish(),
  max_concurrency: count().nullish(),
  allowed_models: modelList
    .nullish()
    .openapi({ description: 'null = every model that project, team and organization allow' }),
  drop_params: z.boolean().nullish().openapi({ description: 'null = as the project says' }),
  failover: z.enum(FAILOVER_SETTINGS).nullish().openapi({
    description: 'off: only the first target is tried; null = alias and project decide',
  }),
  allowed_providers: providerList.nullish().openapi({
    description: 'Providers that may answer; null = every provider that project, team and organization allow',
  }),
  passthrough: passthrough.nullish().openapi({
    description: "Providers with pass-through; null = the project's, [] = none",
  }),
  allowed_tools: toolPatterns.nullish().openapi({
    description: 'Permitted MCP tools, such as "github__*"; null = the project\'s, [] = none',
  }),
  code_mode: z
    .boolean()
    .nullish()
    .openapi({ description: "May run scripts over its tools at /mcp/code; null = the project's value" }),
  labels: labels.nullish().openapi({ description: "Labels of its requests; they override the project's; null = none" }),
  guardrail_rules: guardrailRules
    .nullish()
    .openapi({ description: "Guardrails in addition to the project's; null = none" }),
  expires_at: instantOrNull,
  budget_usd: usdOrNull,
  budget_period: z.enum(['total', 'month']).optional().openapi({ default: 'total' }),
  ...periodBudgets,
  ...runBudgets,
};

export const newKeySchema = z.strictObject({ name: text(), ...settings, key: givenKey.optional() }).openapi('NewKey');
export const keyChangesSchema = z
  .strictObject({ name: text().optional(), ...settings, is_active: z.boolean().optional() })
  .openapi('KeyChanges');

const MAX_GRACE_SECONDS = 7 * 86_400;

export const rotationSchema = z
  .strictObject({
    grace_seconds: count(0, MAX_GRACE_SECONDS)
      .nullish()
      .openapi({ default: 0, description: 'The old secret works for so long; 0 = it ends with the next request' }),
  })
  .openapi('KeyRotation');

const shown = z.object({
  id,
  project_id: id,
  name: z.string(),
  user_id: id.nullable(),
  is_sign_on: z.boolean().openapi({ description: 'Of tokens of the person; nobody has its secret' }),
  prefix: z.string().openapi({ description: 'First characters of the key' }),
  is_active: z.boolean(),
  state: z
    .enum(['active', 'requested', 'inactive'])
    .openapi({ description: 'requested: waits for an admin of the team' }),
  rate_limit_per_minute: z.int().nullable(),
  rate_limit_burst: z.int().nullable(),
  tokens_per_minute: z.int().nullable(),
  max_concurrency: z.int().nullable(),
  allowed_models: z.array(z.string()).nullable(),
  allowed_providers: z.array(z.string()).nullable(),
  drop_params: z.boolean().nullable(),
  failover: z.enum(FAILOVER_SETTINGS).nullable(),
  passthrough: z.array(z.string()).nullable(),
  allowed_tools: z.array(z.string()).nullable(),
  code_mode: z.boolean().nullable(),
  labels: z.record(z.string(), z.string()).nullable(),
  guardrail_rules: z.array(ruleSchema).nullable(),
  expires_at: instantShown.nullable(),
  previous_secret_expires_at: instantShown
    .nullable()
    .openapi({ description: 'End of the secret before the last rotation; null = it ended at once' }),
  budget_usd: usdShown.nullable(),
  budget_period: z.enum(['total', 'month']),
  ...periodBudgetsShown,
  ...runBudgetsShown,
  created_at: instantShown,
  updated_at: instantShown,
});

export const keySchema = shown.openapi('Key');
export const listedKeySchema = shown
  .extend({
    requests: z.int().openapi({ description: 'All requests' }),
    spent_usd: usdShown.openapi({ description: 'Total spend' }),
    last_used_at: instantShown.nullable().openapi({ description: 'Last request, refused ones included; null = never' }),
    spend_by_day: spendByDay,
  })
  .openapi('ListedKey');
export const keyWithSecretSchema = shown
  .extend({ key: z.string().openapi({ description: 'The secret, shown once; the gateway stores only its SHA-256' }) })
  .openapi('KeyWithSecret');

/** Fields that were not sent stay undefined: the default. */
export function toNewKeySettings({ key: _key, ...body }: z.output<typeof newKeySchema>) {
  const { rate_limit_per_minute: rateLimitPerMinute = DEFAULT_REQUESTS_PER_MINUTE } = body;
  return { ...readFields(body), rateLimitPerMinute };
}

export const showKey = (key: StoredApiKey) => showFields(keySchema, withRules(key));

const withRules = (key: StoredApiKey) => ({
  ...{ ...key, guardrailRules: key.guardrailRules?.map(showRule) ?? null, state: stateOf(key) },
});

const stateOf = ({ isActive, requestedAtMs }: StoredApiKey) =>
  requestedAtMs !== null ? ('requested' as const) : isActive ? ('active' as const) : ('inactive' as const);

const UNUSED: KeyUsage = { requests: 0, costNanoUsd: 0, lastUsedAtMs: null };

interface Listed {
  readonly usage: KeyUsage | undefined;
  readonly spendByDay: readonly number[] | null;
}

export const showListedKey = (key: StoredApiKey, { usage = UNUSED, spendByDay: days }: Listed) =>
  showFields(listedKeySchema, {
    ...{ ...withRules(key), requests: usage.requests, spentNanoUsd: usage.costNanoUsd },
    ...{ lastUsedAtMs: usage.lastUsedAtMs, spendByDay: days },
  });

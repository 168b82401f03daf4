import { bigint, boolean, doublePrecision, integer, jsonb, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { instant, instantOfInsert, nanoUsd } from './columns';

/** Fixed, so that releases without teams write into it. */
export const DEFAULT_ORGANIZATION_ID = '00000000-0000-4000-8000-000000000001';
export const DEFAULT_TEAM_ID = '00000000-0000-4000-8000-000000000002';

/** `version` and `updated_at` are raised by a trigger with every update. */
export const projects = pgTable('projects', {
  id: uuid('id').primaryKey().defaultRandom(),
  name: text('name').notNull(),
  /** null = of no team. The database's default is the default team. */
  teamId: uuid('team_id').default(DEFAULT_TEAM_ID),
  /** null = the team's. */
  costCenter: text('cost_center'),
  version: bigint('version', { mode: 'number' }).notNull().default(1),
  isActive: boolean('is_active').notNull().default(true),
  monthlyCapNanoUsd: nanoUsd('monthly_cap_usd'),
  dailyBudgetNanoUsd: nanoUsd('daily_budget_usd'),
  weeklyBudgetNanoUsd: nanoUsd('weekly_budget_usd'),
  /** Kept for it of its team's monthly budget; null = nothing. */
  teamShareNanoUsd: nanoUsd('team_share_usd'),
  /** Beyond its share, it takes of what no share claims. */
  teamOverdraft: boolean('team_overdraft').notNull().default(true),
  strictCaps: boolean('strict_caps').notNull().default(false),
  defaultOutputTokens: integer('default_output_tokens').notNull().default(4096),
  cacheEnabled: boolean('cache_enabled').notNull().default(true),
  cacheTtlSeconds: integer('cache_ttl_seconds'),
  semanticCacheEnabled: boolean('semantic_cache_enabled').notNull().default(false),
  semanticThreshold: doublePrecision('semantic_threshold'),
  semanticShadow: boolean('semantic_shadow').notNull().default(false),
  cacheToolCalls: boolean('cache_tool_calls').notNull().default(false),
  shareResponses: boolean('share_responses').notNull().default(false),
  dropParams: boolean('drop_params'),
  failover: text('failover', { enum: ['on', 'off'] }),
  allowedModels: jsonb('allowed_models').$type<readonly string[]>(),
  allowedProviders: jsonb('allowed_providers').$type<readonly string[]>(),
  passthrough: jsonb('passthrough').$type<readonly string[]>(),
  allowedTools: jsonb('allowed_tools').$type<readonly string[]>(),
  codeMode: boolean('code_mode').notNull().default(false),
  labels: jsonb('labels').$type<Readonly<Record<string, string>>>(),
  onStoreFailure: text('on_store_failure', { enum: ['closed', 'open'] })
    .notNull()
    .default('closed'),
  unknownModelPolicy: text('unknown_model_policy', { enum: ['refuse', 'allow_unpriced'] }),
  maxCustomers: integer('max_customers').default(100_000),
  /** null = requests don't wait for limits. */
  queueTimeoutMs: integer('queue_timeout_ms'),
  /** Version in force from `guardrails`. */
  guardrailsVersion: bigint('guardrails_version', { mode: 'number' }),
  pseudonymSecret: uuid('pseudonym_secret').notNull().defaultRandom(),
  createdAtMs: instantOfInsert('created_at'),
  updatedAtMs: instantOfInsert('updated_at'),
  deletedAtMs: instant('deleted_at'),
});

import type { GuardrailRule } from '@llm0/core/guardrails/policy';
import { bigint, boolean, integer, jsonb, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { instant, instantOfInsert, nanoUsd } from './columns';
import { projects } from './projects';

/** Fields of a key that its user may make stricter only. */
export type KeyBounds = Readonly<Record<string, unknown>>;

/** `key_hash` is the lower-case hex SHA-256 of the secret; the secret itself is nowhere. */
export const apiKeys = pgTable('api_keys', {
  id: uuid('id').primaryKey().defaultRandom(),
  projectId: uuid('project_id')
    .notNull()
    .references(() => projects.id),
  name: text('name').notNull(),
  /** The person who uses it; null = nobody in particular. */
  userId: uuid('user_id'),
  /** Of a person's tokens in the project. Nobody has its secret. */
  isSignOn: boolean('is_sign_on').notNull().default(false),
  /** It works only while its user may have keys in the project. */
  followsRole: boolean('follows_role').notNull().default(false),
  /** What an admin set or approved for the user; by inner names. */
  bounds: jsonb('bounds').$type<KeyBounds>(),
  hash: text('key_hash').notNull().unique(),
  prefix: text('key_prefix').notNull(),
  /** Secret before the last rotation; it works until then. null = it ended at once. */
  previousHash: text('previous_key_hash').unique(),
  previousSecretExpiresAtMs: instant('previous_secret_expires_at'),
  version: bigint('version', { mode: 'number' }).notNull().default(1),
  isActive: boolean('is_active').notNull().default(true),
  /** Set while it waits for an admin of the team; it isn't active then. */
  requestedAtMs: instant('requested_at'),
  rateLimitPerMinute: integer('rate_limit_per_minute'),
  rateLimitBurst: integer('rate_limit_burst'),
  tokensPerMinute: integer('tokens_per_minute'),
  maxConcurrency: integer('max_concurrency'),
  allowedModels: jsonb('allowed_models').$type<readonly string[]>(),
  allowedProviders: jsonb('allowed_providers').$type<readonly string[]>(),
  dropParams: boolean('drop_params'),
  failover: text('failover', { enum: ['on', 'off'] }),
  passthrough: jsonb('passthrough').$type<readonly string[]>(),
  allowedTools: jsonb('allowed_tools').$type<readonly string[]>(),
  codeMode: boolean('code_mode'),
  guardrailRules: jsonb('guardrail_rules').$type<readonly GuardrailRule[]>(),
  labels: jsonb('labels').$type<Readonly<Record<string, string>>>(),
  expiresAtMs: instant('expires_at'),
  budgetNanoUsd: nanoUsd('budget_usd'),
  budgetPeriod: text('budget_period', { enum: ['total', 'month'] })
    .notNull()
    .default('total'),
  dailyBudgetNanoUsd: nanoUsd('daily_budget_usd'),
  weeklyBudgetNanoUsd: nanoUsd('weekly_budget_usd'),
  maxRunBudgetNanoUsd: nanoUsd('max_run_budget_usd'),
  defaultRunBudgetNanoUsd: nanoUsd('default_run_budget_usd'),
  createdAtMs: instantOfInsert('created_at'),
  updatedAtMs: instantOfInsert('updated_at'),
  deletedAtMs: instant('deleted_at'),
});

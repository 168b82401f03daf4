import { boolean, doublePrecision, integer, jsonb, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { instant, instantOfInsert } from './columns';

/** Sign-ins of the dashboard; hashes only. */
export const adminSessions = pgTable('admin_sessions', {
  id: uuid('id').primaryKey().defaultRandom(),
  sessionHash: text('session_hash').notNull().unique(),
  tokenId: uuid('token_id'),
  tokenHash: text('token_hash').notNull(),
  createdAtMs: instantOfInsert('created_at'),
  expiresAtMs: instant('expires_at').notNull(),
});

export const ALERT_KINDS = [
  'budget_share',
  'error_rate',
  'latency_p95',
  'spend',
  'job_failed',
  'guardrail_hits',
] as const;

/** Lists of requests that admins share. */
export const savedViews = pgTable('saved_views', {
  id: uuid('id').primaryKey().defaultRandom(),
  name: text('name').notNull(),
  /** As `GET /logs` takes them. */
  filters: jsonb('filters').$type<Readonly<Record<string, readonly string[]>>>().notNull(),
  columns: jsonb('columns').$type<readonly string[]>().notNull(),
  sort: text('sort').notNull(),
  createdBy: text('created_by').notNull(),
  createdAtMs: instantOfInsert('created_at'),
  updatedAtMs: instantOfInsert('updated_at'),
});

/** What an operator wants to be told of, and where. */
export const alerts = pgTable('alerts', {
  id: uuid('id').primaryKey().defaultRandom(),
  name: text('name').notNull(),
  kind: text('kind', { enum: ALERT_KINDS }).notNull(),
  /** A share (0…1) for budgets and error rates, milliseconds for latency, USD for spend; unused for failed jobs. */
  threshold: doublePrecision('threshold').notNull(),
  windowMinutes: integer('window_minutes').notNull().default(15),
  /** null = over all projects. */
  projectId: uuid('project_id'),
  webhookUrl: text('webhook_url').notNull(),
  isActive: boolean('is_active').notNull().default(true),
  /** What the webhook was told last. */
  isFiring: boolean('is_firing').notNull().default(false),
  changedAtMs: instant('changed_at'),
  /** Why the webhook could not be told. */
  lastError: text('last_error'),
  createdAtMs: instantOfInsert('created_at'),
  updatedAtMs: instantOfInsert('updated_at'),
});

import { boolean, doublePrecision, integer, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { instant } from './columns';

/** Sign-ins of the dashboard; hashes only. */
export const adminSessions = pgTable('admin_sessions', {
  id: uuid('id').primaryKey().defaultRandom(),
  sessionHash: text('session_hash').notNull().unique(),
  tokenId: uuid('token_id'),
  tokenHash: text('token_hash').notNull(),
  createdAt: instant('created_at').notNull().defaultNow(),
  expiresAt: instant('expires_at').notNull(),
});

export const ALERT_KINDS = ['budget_share', 'error_rate', 'latency_p95', 'spend', 'job_failed'] as const;

/** What an operator wants to be told of, and where. */
export const alerts = pgTable('alerts', {
  id: uuid('id').primaryKey().defaultRandom(),
  name: text('name').notNull(),
  kind: text('kind', { enum: ALERT_KINDS }).notNull(),
  threshold: doublePrecision('threshold').notNull(),
  windowMinutes: integer('window_minutes').notNull().default(15),
  projectId: uuid('project_id'),
  webhookUrl: text('webhook_url').notNull(),
  isActive: boolean('is_active').notNull().default(true),
  isFiring: boolean('is_firing').notNull().default(false),
  changedAt: instant('changed_at'),
  lastError: text('last_error'),
  createdAt: instant('created_at').notNull().defaultNow(),
  updatedAt: instant('updated_at').notNull().defaultNow(),
});

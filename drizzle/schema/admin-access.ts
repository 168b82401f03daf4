import { ALERT_KINDS, WEBHOOK_FORMATS } from '@llm0/core/alerts/kinds';
import { boolean, doublePrecision, integer, jsonb, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { instant, instantOfInsert } from './columns';

/** Sign-ins of the dashboard; hashes only. */
export const adminSessions = pgTable('admin_sessions', {
  id: uuid('id').primaryKey().defaultRandom(),
  sessionHash: text('session_hash').notNull().unique(),
  tokenId: uuid('token_id'),
  tokenHash: text('token_hash').notNull(),
  /** The person who signed in with an identity provider. */
  userId: uuid('user_id'),
  identityProviderId: uuid('identity_provider_id'),
  /** Of the state of the sign-in, which works once. */
  signInHash: text('sign_in_hash'),
  /** When the issuer authenticated the person; null = unknown. */
  authenticatedAtMs: instant('authenticated_at'),
  createdAtMs: instantOfInsert('created_at'),
  expiresAtMs: instant('expires_at').notNull(),
});

/** Lists of requests that admins share. */
export const savedViews = pgTable('saved_views', {
  id: uuid('id').primaryKey().defaultRandom(),
  name: text('name').notNull(),
  /** Filters of `GET /logs`. */
  filters: jsonb('filters').$type<Readonly<Record<string, readonly string[]>>>().notNull(),
  columns: jsonb('columns').$type<readonly string[]>().notNull(),
  sort: text('sort').notNull(),
  createdBy: text('created_by').notNull(),
  createdAtMs: instantOfInsert('created_at'),
  updatedAtMs: instantOfInsert('updated_at'),
});

/** Condition and webhook of an alert. */
export const alerts = pgTable('alerts', {
  id: uuid('id').primaryKey().defaultRandom(),
  name: text('name').notNull(),
  kind: text('kind', { enum: ALERT_KINDS }).notNull(),
  /** In the unit of its kind (`ALERT_KIND_FACTS`). */
  threshold: doublePrecision('threshold').notNull(),
  windowMinutes: integer('window_minutes').notNull().default(15),
  /** null = over all projects. */
  projectId: uuid('project_id'),
  webhookUrl: text('webhook_url').notNull(),
  webhookFormat: text('webhook_format', { enum: WEBHOOK_FORMATS }).notNull().default('json'),
  /** PagerDuty's integration key; write-only. */
  routingKey: text('routing_key'),
  /** Share of requests that are to succeed, of error budgets alone. */
  objective: doublePrecision('objective'),
  /** Until then, firings cause no notification. */
  mutedUntilMs: instant('muted_until'),
  isActive: boolean('is_active').notNull().default(true),
  /** The condition was met at the last check. */
  isMet: boolean('is_met').notNull().default(false),
  /** Last webhook message. */
  isFiring: boolean('is_firing').notNull().default(false),
  changedAtMs: instant('changed_at'),
  /** Last check, and what it measured; null where there was nothing to measure. */
  checkedAtMs: instant('checked_at'),
  checkedValue: doublePrecision('checked_value'),
  checkedText: text('checked_text'),
  /** Error of the last notification. */
  lastError: text('last_error'),
  createdAtMs: instantOfInsert('created_at'),
  updatedAtMs: instantOfInsert('updated_at'),
  /** Hidden from everybody; the row stays until its webhook knows of the end. */
  deletedAtMs: instant('deleted_at'),
});

/** Firings of alerts, notified or not. Kept 90 d. */
export const alertFirings = pgTable('alert_firings', {
  id: uuid('id').primaryKey().defaultRandom(),
  alertId: uuid('alert_id').notNull(),
  createdAtMs: instant('created_at').notNull(),
  /** null while it fires. */
  endedAtMs: instant('ended_at'),
  /** First and highest value of the firing, in the unit of the kind. */
  value: doublePrecision('value'),
  highest: doublePrecision('highest'),
  text: text('text').notNull(),
  /** Sorted subjects, if the kind has any; other subjects are another firing. */
  subjects: text('subjects').array(),
  /** null: no notification, because the alert was muted or the webhook failed. */
  toldAtMs: instant('told_at'),
});

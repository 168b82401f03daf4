import type { JsonObject } from '@llm0/core/chat/json';
import { boolean, doublePrecision, jsonb, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core';
import { instant, instantOfInsert } from './columns';

/** One row for each job run and each event for the operator (records set aside). */
export const systemLogs = pgTable('system_logs', {
  id: uuid('id').primaryKey().defaultRandom(),
  createdAtMs: instantOfInsert('created_at'),
  /** The job's name, or e.g. `log_record_set_aside`. */
  eventType: text('event_type').notNull(),
  outcome: text('outcome', { enum: ['ok', 'error'] }).notNull(),
  durationMs: doublePrecision('duration_ms'),
  message: text('message').notNull(),
  metadata: jsonb('metadata').$type<JsonObject>().notNull().default({}),
});

export const settings = pgTable('settings', {
  key: text('key').primaryKey(),
  value: jsonb('value').notNull(),
  updatedAtMs: instantOfInsert('updated_at'),
});

export const ANNOTATION_KINDS = ['deploy', 'incident', 'note'] as const;

/** Annotations in charts. */
export const annotations = pgTable('annotations', {
  id: uuid('id').primaryKey().defaultRandom(),
  createdAtMs: instantOfInsert('created_at'),
  atMs: instantOfInsert('at'),
  kind: text('kind', { enum: ANNOTATION_KINDS }).notNull(),
  text: text('text').notNull(),
  /** null = on the charts of all projects. */
  projectId: uuid('project_id'),
  actor: text('actor').notNull(),
});

/** Named tokens of the admin API; the secrets themselves are nowhere. */
export const adminTokens = pgTable('admin_tokens', {
  id: uuid('id').primaryKey().defaultRandom(),
  name: text('name').notNull(),
  hash: text('token_hash').notNull().unique(),
  prefix: text('token_prefix').notNull(),
  role: text('role', { enum: ['admin', 'viewer', 'scim'] })
    .notNull()
    .default('admin'),
  /** Access to stored prompts and answers; null: by role. */
  canReadBodies: boolean('can_read_bodies'),
  createdAtMs: instantOfInsert('created_at'),
  expiresAtMs: instant('expires_at'),
  revokedAtMs: instant('revoked_at'),
  /** To a minute; null = never. */
  lastUsedAtMs: instant('last_used_at'),
});

export const adminAudit = pgTable('admin_audit', {
  id: uuid('id').primaryKey().defaultRandom(),
  createdAtMs: instantOfInsert('created_at'),
  actor: text('actor').notNull(),
  /** `create`, `update`, `delete`, `rotate`, `purge`. */
  action: text('action').notNull(),
  resource: text('resource').notNull(),
  resourceId: text('resource_id'),
  /** The resource as the API shows it, without secrets. */
  before: jsonb('before'),
  after: jsonb('after'),
});

/** Resources that configuration files manage, by the name of the apply. */
export const managedResources = pgTable(
  'managed_resources',
  {
    applyName: text('apply_name').notNull(),
    /** As in the audit. */
    resource: text('resource').notNull(),
    resourceId: text('resource_id').notNull(),
    /** An apply made it, so that it may also delete it. */
    isCreated: boolean('is_created').notNull(),
    /** Salted SHA-256 of its secrets; null if somebody else changed the resource since. */
    secretDigest: text('secret_digest'),
    appliedAtMs: instantOfInsert('applied_at'),
    /** Last change past the file since then, and its author. */
    changedAtMs: instant('changed_at'),
    changedBy: text('changed_by'),
  },
  (table) => [primaryKey({ columns: [table.applyName, table.resource, table.resourceId] })],
);

/** The running apply: at most one row. */
export const applyLease = pgTable('apply_lease', {
  onlyOne: boolean('only_one').primaryKey().default(true),
  id: uuid('id').notNull(),
  applyName: text('apply_name').notNull(),
  actor: text('actor').notNull(),
  expiresAtMs: instant('expires_at').notNull(),
});

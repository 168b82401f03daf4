import { boolean, integer, jsonb, pgTable, text, unique, uuid } from 'drizzle-orm/pg-core';
import { bytes, instantOfInsert } from './columns';
import { projects } from './projects';

/** A target of an alias. */
export interface StoredTarget {
  readonly provider: string;
  readonly model: string;
  readonly weight?: number;
  readonly request_timeout_ms?: number | null;
  readonly answer_timeout_ms?: number | null;
}

/** Options of aliases and chains. */
export interface StoredOptions {
  readonly hedge_after_ms?: number;
  /** Aliases only; absent = true. */
  readonly session_affinity?: false;
  /** Aliases only. */
  readonly failover?: 'on' | 'off';
  /** Aliases only: retries a timed out plain answer elsewhere. */
  readonly retry_timeouts?: true;
}

/** A step of a chain, with the names that take its place. */
export interface StoredStep {
  readonly provider: string;
  readonly model: string;
  readonly matches: readonly string[];
}

/** Providers from run time; encrypted columns are AES-256-GCM (nonce, ciphertext, tag). */
export const providers = pgTable('providers', {
  id: uuid('id').primaryKey().defaultRandom(),
  name: text('name').notNull().unique(),
  /** Provider with the same API. */
  kind: text('kind').notNull(),
  /** null = the vendor's own. */
  baseUrl: text('base_url'),
  /** JSON of all headers. */
  encryptedHeaders: bytes('encrypted_headers'),
  encryptionKeyId: text('encryption_key_id'),
  headerNames: jsonb('header_names').$type<readonly string[]>().notNull().default([]),
  /** Names of its models; empty = those it lists by itself. */
  models: jsonb('models').$type<readonly string[]>().notNull().default([]),
  options: jsonb('options').$type<Record<string, string>>().notNull().default({}),
  passthroughPaths: jsonb('passthrough_paths').$type<readonly string[]>().notNull().default([]),
  /** null = the gateway's. */
  requestTimeoutMs: integer('request_timeout_ms'),
  answerTimeoutMs: integer('answer_timeout_ms'),
  /** Takes no new requests. */
  drain: boolean('drain').notNull().default(false),
  /** Of all processes; null = no limit. */
  maxConcurrency: integer('max_concurrency'),
  /** null = its health isn't checked. */
  healthCheckIntervalMs: integer('health_check_interval_ms'),
  isActive: boolean('is_active').notNull().default(true),
  createdAtMs: instantOfInsert('created_at'),
  updatedAtMs: instantOfInsert('updated_at'),
});

/** `project_id` null = for every project. */
export const providerKeys = pgTable('provider_keys', {
  id: uuid('id').primaryKey(),
  provider: text('provider').notNull(),
  projectId: uuid('project_id').references(() => projects.id),
  name: text('name').notNull(),
  /** First characters of the secret. */
  lastCharacters: text('last_characters').notNull(),
  encryptionKeyId: text('encryption_key_id').notNull(),
  encryptedKey: bytes('encrypted_key').notNull(),
  /** Of all processes; null = no limit. */
  maxConcurrency: integer('max_concurrency'),
  /** In the order of use, from 1; null = behind those with one. */
  position: integer('position'),
  isActive: boolean('is_active').notNull().default(true),
  createdAtMs: instantOfInsert('created_at'),
  updatedAtMs: instantOfInsert('updated_at'),
});

/** `project_id` null = for every project. */
export const aliases = pgTable(
  'aliases',
  {
    id: uuid('id').primaryKey().defaultRandom(),
    projectId: uuid('project_id').references(() => projects.id),
    alias: text('alias').notNull(),
    targets: jsonb('targets').$type<readonly StoredTarget[]>().notNull(),
    strategy: text('strategy', { enum: ['priority', 'weighted', 'least_latency', 'cheapest'] })
      .notNull()
      .default('priority'),
    options: jsonb('options').$type<StoredOptions>().notNull().default({}),
    createdAtMs: instantOfInsert('created_at'),
    updatedAtMs: instantOfInsert('updated_at'),
  },
  (table) => [unique().on(table.projectId, table.alias).nullsNotDistinct()],
);

export const chains = pgTable('chains', {
  id: uuid('id').primaryKey().defaultRandom(),
  name: text('name').notNull().unique(),
  targets: jsonb('targets').$type<readonly StoredStep[]>().notNull(),
  localTier: text('local_tier', { enum: ['flagship', 'balanced', 'budget'] }),
  options: jsonb('options').$type<StoredOptions>().notNull().default({}),
  edited: boolean('edited').notNull().default(false),
  createdAtMs: instantOfInsert('created_at'),
  updatedAtMs: instantOfInsert('updated_at'),
});

import {
  bigint,
  doublePrecision,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  unique,
  uuid,
  vector,
} from 'drizzle-orm/pg-core';
import { instant } from './columns';

const count = (name: string) => bigint(name, { mode: 'number' }).notNull();

/** The warm tier of the exact cache. `cached_response` is a `StoredAnswer`. */
export const exactCache = pgTable(
  'exact_cache',
  {
    projectId: uuid('project_id').notNull(),
    cacheKey: text('cache_key').notNull(),
    provider: text('provider').notNull(),
    model: text('model').notNull(),
    promptTokens: count('prompt_tokens'),
    completionTokens: count('completion_tokens'),
    cachedResponse: jsonb('cached_response').notNull(),
    hitCount: count('hit_count').default(0),
    lastHitAt: instant('last_hit_at'),
    createdAt: instant('created_at').notNull().defaultNow(),
    expiresAt: instant('expires_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.projectId, table.cacheKey] })],
);

/** Exists only where Postgres has pgvector. */
export const semanticCache = pgTable(
  'semantic_cache',
  {
    id: uuid('id').primaryKey().defaultRandom(),
    projectId: uuid('project_id').notNull(),
    cacheKey: text('cache_key').notNull(),
    /** Everything but the last user turn: must match exactly. */
    fingerprint: text('fingerprint').notNull(),
    provider: text('provider').notNull(),
    model: text('model').notNull(),
    dimensions: integer('dimensions').notNull(),
    /** The column takes any number of dimensions; the one given here is only the shipped model's. */
    embedding: vector('embedding', { dimensions: 384 }).notNull(),
    originalPrompt: text('original_prompt').notNull(),
    cachedResponse: jsonb('cached_response').notNull(),
    promptTokens: count('prompt_tokens'),
    completionTokens: count('completion_tokens'),
    hitCount: count('hit_count').default(0),
    lastHitAt: instant('last_hit_at'),
    createdAt: instant('created_at').notNull().defaultNow(),
    expiresAt: instant('expires_at').notNull(),
  },
  (table) => [unique().on(table.projectId, table.cacheKey)],
);

/** Near matches that a guard refused. */
export const semanticRejections = pgTable('semantic_rejections', {
  id: uuid('id').primaryKey().defaultRandom(),
  createdAt: instant('created_at').notNull().defaultNow(),
  projectId: uuid('project_id').notNull(),
  requestId: uuid('request_id'),
  cacheKey: text('cache_key').notNull(),
  prompt: text('prompt').notNull(),
  matchedPrompt: text('matched_prompt').notNull(),
  similarity: doublePrecision('similarity').notNull(),
  guard: text('guard').notNull(),
});

import type { MatchOutcome } from '@llm0/core/cache/semantic/semantic-store';
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
import { instant, instantOfInsert } from './columns';

const count = (name: string) => bigint(name, { mode: 'number' }).notNull();

/** The warm tier of the exact cache. `cached_response` is a `CachedAnswer`. */
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
    lastHitAtMs: instant('last_hit_at'),
    createdAtMs: instantOfInsert('created_at'),
    expiresAtMs: instant('expires_at').notNull(),
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
    /** Equal for wordings that differ in case, blanks and the last mark only. */
    questionHash: text('question_hash').notNull().default(''),
    cachedResponse: jsonb('cached_response').notNull(),
    promptTokens: count('prompt_tokens'),
    completionTokens: count('completion_tokens'),
    hitCount: count('hit_count').default(0),
    lastHitAtMs: instant('last_hit_at'),
    createdAtMs: instantOfInsert('created_at'),
    expiresAtMs: instant('expires_at').notNull(),
  },
  (table) => [unique().on(table.projectId, table.cacheKey)],
);

/** Results of look-ups: served, shadow, refused by a guard, or just below the threshold. Texts only with LOG_BODIES. */
export const semanticMatches = pgTable('semantic_matches', {
  id: uuid('id').primaryKey().defaultRandom(),
  createdAtMs: instantOfInsert('created_at'),
  projectId: uuid('project_id').notNull(),
  requestId: uuid('request_id').notNull(),
  outcome: text('outcome').$type<MatchOutcome>().notNull(),
  guard: text('guard'),
  similarity: doublePrecision('similarity').notNull(),
  threshold: doublePrecision('threshold').notNull(),
  cacheKey: text('cache_key').notNull(),
  matchedKey: text('matched_key').notNull(),
  questionHash: text('question_hash').notNull(),
  matchedHash: text('matched_hash').notNull(),
  prompt: text('prompt'),
  matchedPrompt: text('matched_prompt'),
});

/** Rejected pairs of questions: never matched again, in either direction. */
export const semanticRejections = pgTable('semantic_rejections', {
  id: uuid('id').primaryKey().defaultRandom(),
  createdAtMs: instantOfInsert('created_at'),
  projectId: uuid('project_id').notNull(),
  requestId: uuid('request_id'),
  cacheKey: text('cache_key').notNull(),
  matchedKey: text('matched_key').notNull().default(''),
  questionHash: text('question_hash').notNull().default(''),
  matchedHash: text('matched_hash').notNull().default(''),
  prompt: text('prompt'),
  matchedPrompt: text('matched_prompt'),
  similarity: doublePrecision('similarity'),
  guard: text('guard').notNull(),
});

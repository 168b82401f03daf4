import { boolean, integer, jsonb, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { bytes, instantOfInsert, nanoUsd } from './columns';

/** Plain HTTP services; encrypted columns are AES-256-GCM (nonce, ciphertext, tag). */
export const backends = pgTable('backends', {
  id: uuid('id').primaryKey().defaultRandom(),
  name: text('name').notNull().unique(),
  url: text('url').notNull(),
  /** JSON by name. */
  encryptedHeaders: bytes('encrypted_headers'),
  encryptionKeyId: text('encryption_key_id'),
  headerNames: jsonb('header_names').$type<readonly string[]>().notNull().default([]),
  forwardHeaders: jsonb('forward_headers').$type<readonly string[]>().notNull().default([]),
  pricePerRequestNanoUsd: nanoUsd('price_per_request_usd').notNull().default(0),
  timeoutMs: integer('timeout_ms').notNull().default(30_000),
  retries: integer('retries').notNull().default(1),
  cacheEnabled: boolean('cache_enabled').notNull().default(true),
  /** null = CACHE_TTL. */
  cacheTtlSeconds: integer('cache_ttl_seconds'),
  isActive: boolean('is_active').notNull().default(true),
  createdAtMs: instantOfInsert('created_at'),
  updatedAtMs: instantOfInsert('updated_at'),
});

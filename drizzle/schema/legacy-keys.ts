import { pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { apiKeys } from './api-keys';

/** Keys of which only a bcrypt hash was known when they were taken over. */
export const legacyKeys = pgTable('legacy_keys', {
  apiKeyId: uuid('api_key_id')
    .primaryKey()
    .references(() => apiKeys.id),
  /** Prefix of the key. */
  lookup: text('lookup').notNull(),
  /** null once the key was used: its SHA-256 is in `api_keys` then. */
  bcryptHash: text('bcrypt_hash'),
  /** Temporary value of `api_keys.key_hash`; a different one means that the key was replaced. */
  standIn: text('stand_in').notNull(),
});

import { pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { instant } from './columns';

/**
 * Answers that later requests of their key and customer may continue. `input` and `answer` are JSON in the caller's
 * format.
 */
export const keptAnswers = pgTable('kept_answers', {
  id: uuid('id').primaryKey(),
  projectId: uuid('project_id').notNull(),
  apiKeyId: uuid('api_key_id'),
  customerId: text('customer_id'),
  previousId: uuid('previous_id'),
  input: text('input').notNull(),
  answer: text('answer').notNull(),
  itemIds: text('item_ids').array().notNull(),
  createdAtMs: instant('created_at').notNull(),
  expiresAtMs: instant('expires_at').notNull(),
});

import type { TokenPrices } from '@llm0/core/pricing/price-book';
import { sql } from 'drizzle-orm';
import { bigint, boolean, jsonb, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { instant, instantOfInsert, nanoUsd } from './columns';

/** `prices`: integer pico-USD per token by class. Rows an operator wrote or deleted are `edited`; the seed skips them. */
export const modelPricing = pgTable(
  'model_pricing',
  {
    provider: text('provider').notNull(),
    model: text('model').notNull(),
    mode: text('mode').notNull().default('chat'),
    prices: jsonb('prices').$type<TokenPrices>().notNull(),
    inputPer1kTokens: nanoUsd('input_per_1k_tokens').generatedAlwaysAs(
      sql`(prices ->> 'input')::numeric * 0.000000001`,
    ),
    outputPer1kTokens: nanoUsd('output_per_1k_tokens').generatedAlwaysAs(
      sql`(prices ->> 'output')::numeric * 0.000000001`,
    ),
    contextWindow: bigint('context_window', { mode: 'number' }),
    maxOutputTokens: bigint('max_output_tokens', { mode: 'number' }),
    capabilities: jsonb('capabilities').$type<readonly string[]>().notNull().default([]),
    deprecationDate: text('deprecation_date'),
    source: text('source'),
    edited: boolean('edited').notNull().default(false),
    deletedAtMs: instant('deleted_at'),
    updatedAtMs: instantOfInsert('updated_at'),
  },
  (table) => [primaryKey({ columns: [table.provider, table.model] })],
);

import { bigint, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core';
import { histogram, instant, nanoUsd } from './columns';

const count = (name: string) => bigint(name, { mode: 'number' }).notNull();

/** The roll-ups have one shape: exact counts, tokens and money, and a histogram of each duration. */
function rollupTable(name: string) {
  return pgTable(
    name,
    {
      bucketMs: instant('bucket').notNull(),
      projectId: uuid('project_id').notNull(),
      apiKeyId: uuid('api_key_id').notNull(),
      model: text('model').notNull(),
      provider: text('provider').notNull(),
      status: text('status').notNull(),
      cache: text('cache', { enum: ['exact', 'semantic', 'miss'] }).notNull(),
      requests: count('requests'),
      tokensIn: count('tokens_in'),
      tokensOut: count('tokens_out'),
      tokensCacheRead: count('tokens_cache_read'),
      tokensCacheWrite: count('tokens_cache_write'),
      tokensReasoning: count('tokens_reasoning'),
      costNanoUsd: nanoUsd('cost_usd').notNull(),
      savedNanoUsd: nanoUsd('saved_usd').notNull(),
      failovers: count('failovers'),
      latencyHistogram: histogram('latency_histogram').notNull(),
      ttftHistogram: histogram('ttft_histogram').notNull(),
      overheadHistogram: histogram('overhead_histogram').notNull(),
      upstreamHistogram: histogram('upstream_histogram').notNull(),
    },
    (table) => [
      primaryKey({
        columns: [
          table.bucketMs,
          table.projectId,
          table.apiKeyId,
          table.model,
          table.provider,
          table.status,
          table.cache,
        ],
      }),
    ],
  );
}

/** Kept 48 h. */
export const rollupMinute = rollupTable('rollup_minute');
/** Kept 90 d. */
export const rollupHour = rollupTable('rollup_hour');
/** Kept forever. */
export const rollupDay = rollupTable('rollup_day');

import { pgTable, text, unique, uuid } from 'drizzle-orm/pg-core';
import { instant, instantOfInsert, nanoUsd } from './columns';
import { projects } from './projects';

/** Agents' runs with a budget. */
export const runs = pgTable(
  'runs',
  {
    id: uuid('id').primaryKey().defaultRandom(),
    projectId: uuid('project_id')
      .notNull()
      .references(() => projects.id),
    /** `X-LLM0-Run-Id`. */
    runId: text('run_id').notNull(),
    /** Key of its first request. */
    apiKeyId: uuid('api_key_id').notNull(),
    budgetNanoUsd: nanoUsd('budget_usd').notNull(),
    /** When its budget first refused a request; null = it goes on. */
    pausedAtMs: instant('paused_at'),
    stoppedAtMs: instant('stopped_at'),
    /** When the hot store dropped its counter. */
    forgottenAtMs: instant('forgotten_at'),
    /** Spend of requests whose rows are in ClickHouse alone. */
    droppedNanoUsd: nanoUsd('dropped_usd').notNull().default(0),
    createdAtMs: instantOfInsert('created_at'),
    updatedAtMs: instantOfInsert('updated_at'),
  },
  (table) => [unique().on(table.projectId, table.runId)],
);

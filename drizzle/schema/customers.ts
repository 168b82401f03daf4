import { bigint, date, integer, jsonb, pgTable, primaryKey, text, unique, uuid } from 'drizzle-orm/pg-core';
import { instantOfInsert, nanoUsd } from './columns';
import { projects } from './projects';

export const customerLimits = pgTable(
  'customer_limits',
  {
    id: uuid('id').primaryKey().defaultRandom(),
    projectId: uuid('project_id')
      .notNull()
      .references(() => projects.id),
    customerId: text('customer_id').notNull(),
    version: bigint('version', { mode: 'number' }).notNull().default(1),
    dailySpendLimitNanoUsd: nanoUsd('daily_spend_limit_usd'),
    monthlySpendLimitNanoUsd: nanoUsd('monthly_spend_limit_usd'),
    perRequestMaxNanoUsd: nanoUsd('per_request_max_usd'),
    requestsPerMinute: integer('requests_per_minute'),
    requestsPerHour: integer('requests_per_hour'),
    requestsPerDay: integer('requests_per_day'),
    /** `{model: {requests_per_day}}`, as the admin API takes it. */
    modelLimits: jsonb('model_limits')
      .$type<Record<string, { requests_per_day?: number | null }>>()
      .notNull()
      .default({}),
    onLimitBehavior: text('on_limit_behavior', { enum: ['block', 'downgrade', 'warn'] })
      .notNull()
      .default('block'),
    downgradeModel: text('downgrade_model'),
    createdAtMs: instantOfInsert('created_at'),
    updatedAtMs: instantOfInsert('updated_at'),
  },
  (table) => [unique().on(table.projectId, table.customerId)],
);

/** Daily roll-up by customer, written with the rows themselves. */
export const customerSpend = pgTable(
  'customer_spend',
  {
    projectId: uuid('project_id').notNull(),
    customerId: text('customer_id').notNull(),
    date: date('date').notNull(),
    requestCount: bigint('request_count', { mode: 'number' }).notNull(),
    tokensIn: bigint('tokens_in', { mode: 'number' }).notNull(),
    tokensOut: bigint('tokens_out', { mode: 'number' }).notNull(),
    totalSpendNanoUsd: nanoUsd('total_spend_usd').notNull(),
    savedNanoUsd: nanoUsd('saved_usd').notNull(),
  },
  (table) => [primaryKey({ columns: [table.projectId, table.customerId, table.date] })],
);

import { date, pgTable, primaryKey, text, unique, uuid } from 'drizzle-orm/pg-core';
import { instantOfInsert, nanoUsd } from './columns';
import { projects } from './projects';

/** Budgets for a project's requests with a label. */
export const labelBudgets = pgTable(
  'label_budgets',
  {
    id: uuid('id').primaryKey().defaultRandom(),
    projectId: uuid('project_id')
      .notNull()
      .references(() => projects.id),
    label: text('label').notNull(),
    value: text('value').notNull(),
    dailyNanoUsd: nanoUsd('daily_usd'),
    weeklyNanoUsd: nanoUsd('weekly_usd'),
    monthlyNanoUsd: nanoUsd('monthly_usd'),
    createdAtMs: instantOfInsert('created_at'),
    updatedAtMs: instantOfInsert('updated_at'),
  },
  (table) => [unique().on(table.projectId, table.label, table.value)],
);

/** Daily roll-up of labels that have a budget, written with the rows themselves. */
export const labelSpend = pgTable(
  'label_spend',
  {
    labelBudgetId: uuid('label_budget_id')
      .notNull()
      .references(() => labelBudgets.id, { onDelete: 'cascade' }),
    date: date('date').notNull(),
    spentNanoUsd: nanoUsd('spent_usd').notNull(),
  },
  (table) => [primaryKey({ columns: [table.labelBudgetId, table.date] })],
);

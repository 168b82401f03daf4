import type { GuardrailRule } from '@llm0/core/guardrails/policy';
import { bigint, jsonb, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core';
import { instantOfInsert } from './columns';
import { projects } from './projects';

/** Stored versions of a project's guardrails; `projects.guardrails_version` names the one in force. */
export const guardrails = pgTable(
  'guardrails',
  {
    projectId: uuid('project_id')
      .notNull()
      .references(() => projects.id),
    version: bigint('version', { mode: 'number' }).notNull(),
    mode: text('mode', { enum: ['off', 'shadow', 'enforce'] }).notNull(),
    pseudonymScope: text('pseudonym_scope', { enum: ['request', 'project'] }).notNull(),
    rules: jsonb('rules').$type<readonly GuardrailRule[]>().notNull(),
    createdBy: text('created_by').notNull(),
    createdAtMs: instantOfInsert('created_at'),
  },
  (table) => [primaryKey({ columns: [table.projectId, table.version] })],
);

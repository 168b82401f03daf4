import { bigint, boolean, index, integer, jsonb, numeric, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core';
import { instantOfInsert, nanoUsd } from './columns';

/** Who closed which month, of an organization, a team or (neither) everything. */
export const closings = pgTable('closings', {
  id: uuid('id').primaryKey().defaultRandom(),
  /** `YYYY-MM`, in the zone. */
  month: text('month').notNull(),
  timeZone: text('time_zone').notNull(),
  organizationId: uuid('organization_id'),
  teamId: uuid('team_id'),
  projects: integer('projects').notNull(),
  /** Corrections of earlier months included. */
  costNanoUsd: nanoUsd('cost_usd').notNull(),
  correctionsNanoUsd: nanoUsd('corrections_usd').notNull(),
  gatewayVersion: text('gateway_version').notNull(),
  closedBy: text('closed_by').notNull(),
  createdAtMs: instantOfInsert('created_at'),
});

/** A cap as the closed statement shows it. */
export interface ClosedCap {
  readonly scope: 'project' | 'key' | 'customer';
  readonly projectId: string;
  readonly id: string;
  readonly name: string;
  readonly capNanoUsd: number;
  readonly spentNanoUsd: number;
  /** `YYYY-MM-DD`, UTC. */
  readonly reachedOn: string | null;
}

/** A project's place in a closed month. */
export const closedProjects = pgTable(
  'closed_projects',
  {
    projectId: uuid('project_id').notNull(),
    month: text('month').notNull(),
    closingId: uuid('closing_id')
      .notNull()
      .references(() => closings.id),
    name: text('name').notNull(),
    teamId: uuid('team_id'),
    team: text('team'),
    organizationId: uuid('organization_id'),
    organization: text('organization'),
    costCenter: text('cost_center'),
    isRounded: boolean('is_rounded').notNull(),
    /** Amounts of the month before are kept with it, because that month was open. */
    hasPrevious: boolean('has_previous').notNull(),
    caps: jsonb('caps').$type<readonly ClosedCap[]>().notNull(),
  },
  (table) => [primaryKey({ columns: [table.projectId, table.month] })],
);

const count = (name: string) => bigint(name, { mode: 'number' }).notNull();

/** Spend of a closed month by key and model. */
export const closedAmounts = pgTable(
  'closed_amounts',
  {
    projectId: uuid('project_id').notNull(),
    month: text('month').notNull(),
    kind: text('kind', { enum: ['own', 'correction', 'previous'] }).notNull(),
    /** Month of the requests. */
    ofMonth: text('of_month').notNull(),
    apiKeyId: uuid('api_key_id').notNull(),
    keyName: text('key_name').notNull(),
    provider: text('provider').notNull(),
    model: text('model').notNull(),
    /** null = was closed before modalities were kept. */
    modality: text('modality'),
    cache: text('cache', { enum: ['exact', 'semantic', 'miss'] }).notNull(),
    requests: count('requests'),
    costNanoUsd: nanoUsd('cost_usd').notNull(),
    /** null = was no longer known. */
    estimatedNanoUsd: nanoUsd('estimated_usd'),
    savedNanoUsd: nanoUsd('saved_usd').notNull(),
    /** At the prices of the close. */
    savedVendorPicoUsd: numeric('saved_vendor_pico_usd', { precision: 30, scale: 0, mode: 'bigint' }).notNull(),
    tokensCacheRead: count('tokens_cache_read'),
    tokensCacheWrite: count('tokens_cache_write'),
  },
  (table) => [index('closed_amounts_month').on(table.month, table.projectId)],
);

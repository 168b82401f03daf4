import { and, eq, inArray, type SQL, sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { nanoFromUsd } from '../../money';
import { type ClosedCap, closedAmounts, closedProjects, closings } from '../../schema/closings';
import { namesProjects, ofProjects, type ProjectScope } from '../of-projects';
import type { Page, PageRequest } from '../page';
import { Rows, type Stored } from '../rows';
import type { Amount, AmountFilter } from './amounts';
import type { ProjectHome } from './who';

export type { ClosedCap } from '../../schema/closings';

export const closingRows = new Rows(closings);
export type StoredClosing = Stored<typeof closingRows>;

/** Newest first; `places` are ids of teams and organizations, undefined = all. */
export function listClosings(
  db: Db,
  { places, ...page }: PageRequest & { readonly places?: readonly string[] | undefined },
): Promise<Page<StoredClosing>> {
  const isIn = (column: SQL) => namesProjects(places, sql`${column}::text`);
  const own = places && sql`(${isIn(sql`team_id`)} or ${isIn(sql`organization_id`)})`;
  return closingRows.list(db, page, {}, own);
}

/** A project in a month that was closed: its place then. `id` is the project's. */
export interface ClosedProject extends ProjectHome {
  readonly month: string;
  readonly isRounded: boolean;
  readonly hasPrevious: boolean;
  readonly closing: Pick<StoredClosing, 'id' | 'timeZone' | 'closedBy' | 'gatewayVersion' | 'createdAtMs'>;
}

const { team, teamId, organization, organizationId, costCenter, name, month, isRounded, hasPrevious } = closedProjects;
const COLUMNS = {
  ...{ id: closedProjects.projectId, name, teamId, team, organizationId, organization, costCenter },
  ...{ month, isRounded, hasPrevious },
  closing: {
    ...{ id: closings.id, timeZone: closings.timeZone, closedBy: closings.closedBy },
    ...{ gatewayVersion: closings.gatewayVersion, createdAtMs: closings.createdAtMs },
  },
};

export function listClosedProjects(db: Db, months: readonly string[]): Promise<readonly ClosedProject[]> {
  return db
    .select(COLUMNS)
    .from(closedProjects)
    .innerJoin(closings, eq(closings.id, closedProjects.closingId))
    .where(inArray(month, [...months]));
}

/** Time zone of each of the projects' closed months. */
export async function listClosedZones(db: Db, projectId: ProjectScope): Promise<readonly string[]> {
  const rows = await db
    .selectDistinct({ zone: closings.timeZone })
    .from(closedProjects)
    .innerJoin(closings, eq(closings.id, closedProjects.closingId))
    .where(ofProjects(projectId));
  return rows.map(({ zone }) => zone);
}

/** Caps of a closed month. */
export async function loadClosedCaps(db: Db, of: string, projectId: ProjectScope): Promise<readonly ClosedCap[]> {
  const rows = await db
    .select({ caps: closedProjects.caps })
    .from(closedProjects)
    .where(and(eq(month, of), ofProjects(projectId)));
  return rows.flatMap(({ caps }) => caps);
}

export type AmountKind = (typeof closedAmounts.$inferSelect)['kind'];

/** Amounts of a closed month; its `group` is the project, or the key. */
export interface ClosedAmount extends Amount {
  readonly projectId: string;
  readonly keyName: string;
  readonly model: NonNullable<Amount['model']>;
  readonly cache: NonNullable<Amount['cache']>;
  /** null = was no longer known. */
  readonly estimatedNanoUsd: number | null;
  readonly savedVendorPico: bigint;
}

export interface ClosedQuery {
  readonly by: 'project' | 'key';
  readonly filter: Pick<AmountFilter, 'apiKeyId' | 'model' | 'provider' | 'modality'>;
  readonly projectId: ProjectScope;
  /** Months that were closed. */
  readonly month?: string;
  /** Month of the requests. */
  readonly ofMonth?: string;
  readonly kinds: readonly AmountKind[];
}

type AmountRow = Readonly<Record<'grp' | 'project_id' | 'key_name' | 'of_month' | 'provider' | 'model', string>> &
  Readonly<Record<'requests' | 'cost_usd' | 'saved_usd' | 'pico' | 'cache_read' | 'cache_write', string>> & {
    readonly kind: AmountKind;
    readonly modality: string | null;
    readonly cache: ClosedAmount['cache'];
    readonly estimated_usd: string | null;
  };

export async function loadClosedAmounts(db: Db, query: ClosedQuery): Promise<readonly ClosedAmount[]> {
  const { by, filter, projectId, month, ofMonth, kinds } = query;
  const is = (column: string, value: string | undefined) =>
    value === undefined ? sql`true` : sql`${sql.identifier(column)} = ${value}`;
  const isKey = filter.apiKeyId === undefined ? sql`true` : sql`api_key_id = ${filter.apiKeyId}::uuid`;
  const group = sql.raw(by === 'key' ? 'api_key_id' : 'project_id');
  const rows = await db.execute<AmountRow>(sql`
    select ${group}::text as grp, project_id::text, ${by === 'key' ? sql`key_name` : sql`''`} as key_name, kind, of_month,
      provider, model, modality, cache, sum(requests)::text as requests, sum(cost_usd)::text as cost_usd,
      case when bool_and(estimated_usd is not null) then sum(estimated_usd)::text end as estimated_usd,
      sum(saved_usd)::text as saved_usd, sum(saved_vendor_pico_usd)::text as pico,
      sum(tokens_cache_read)::text as cache_read, sum(tokens_cache_write)::text as cache_write
    from closed_amounts
    where ${is('month', month)} and ${is('of_month', ofMonth)} and ${ofProjects(projectId)}
      and kind in (${sql.join(
        kinds.map((kind) => sql`${kind}`),
        sql`, `,
      )})
      and ${isKey} and ${is('model', filter.model)} and ${is('provider', filter.provider)}
      and ${is('modality', filter.modality)}
    group by 1, 2, 3, 4, 5, 6, 7, 8, 9`);
  return rows.map(toAmount);
}

const toAmount = (row: AmountRow): ClosedAmount => ({
  ...{ group: row.grp, projectId: row.project_id, keyName: row.key_name, cache: row.cache, modality: row.modality },
  model: { provider: row.provider, name: row.model },
  requests: Number(row.requests),
  costNanoUsd: nanoFromUsd(row.cost_usd),
  estimatedNanoUsd: row.estimated_usd === null ? null : nanoFromUsd(row.estimated_usd),
  savedNanoUsd: nanoFromUsd(row.saved_usd),
  savedVendorPico: BigInt(row.pico),
  tokensCacheRead: Number(row.cache_read),
  tokensCacheWrite: Number(row.cache_write),
  ...(row.kind === 'correction' && { correctionOf: row.of_month }),
});

export interface NewClosing {
  readonly closing: typeof closings.$inferInsert;
  readonly projects: readonly Omit<typeof closedProjects.$inferInsert, 'closingId'>[];
  readonly amounts: readonly (typeof closedAmounts.$inferInsert)[];
}

/** Keeps statements short; Postgres takes 65,535 parameters. */
const ROWS_A_STATEMENT = 1000;

/** Throws a unique violation if another closing was faster. */
export async function insertClosing(tx: Db, { closing, projects, amounts }: NewClosing): Promise<StoredClosing> {
  const row = await closingRows.create(tx, closing);
  for (let at = 0; at < projects.length; at += ROWS_A_STATEMENT) {
    const some = projects.slice(at, at + ROWS_A_STATEMENT);
    await tx.insert(closedProjects).values(some.map((one) => ({ ...one, closingId: row.id })));
  }
  for (let at = 0; at < amounts.length; at += ROWS_A_STATEMENT) {
    await tx.insert(closedAmounts).values(amounts.slice(at, at + ROWS_A_STATEMENT));
  }
  return row;
}

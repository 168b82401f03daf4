import { type SQL, sql } from 'drizzle-orm';
import type { Db } from '../../../client';
import { nanoFromUsd } from '../../../money';
import { asTable } from '../../clickhouse/as-table';
import { askPairs } from '../../clickhouse/group-rows';
import { withEngine } from '../../clickhouse/log-engine';
import { divideRows } from '../../clickhouse/segment-rows';
import { loadBuckets } from './load-stats';
import { type GroupBy, OTHER_GROUPS, type StatsQuery, type StatsScope, scopeOf } from './questions';
import { MAX_CUSTOMER_DAYS, readDays, type Stretch } from './read-days';
import { groupOf, tableOf, within } from './segment-sql';
import { type Ask, askInTime, askOf } from './time-limit';
import { type StatsSegment, splitRange } from './time-segments';

const DAY_MS = 86_400_000;

/** Groups of a table's rows or columns. */
export type TableSide = Extract<GroupBy, 'project' | 'key' | 'model' | 'provider' | 'customer' | 'modality'>;

export interface SpendTableQuery extends StatsQuery {
  readonly rows: TableSide;
  readonly columns: TableSide;
  /** Maximum of rows and of columns, dearest first; all others form `OTHER_GROUPS`. */
  readonly top: number;
}

/** Spend of two groups at once. */
export interface SpendCell {
  /** '' for none. */
  readonly row: string;
  readonly column: string;
  readonly requests: number;
  readonly costNanoUsd: number;
}

export interface SpendTable {
  /** Pairs that cost something. */
  readonly cells: readonly SpendCell[];
  /** The first moment that was read, at the limit of reading rows. */
  readonly partialFromMs?: number;
}

/** True where no roll-up knows both sides: rows are then read, for up to 3 s and 92 days. */
export const tableNeedsRows = ({ rows, columns }: Pick<SpendTableQuery, 'rows' | 'columns'>): boolean =>
  [rows, columns].some((side) => side === 'customer' || side === 'modality');

/** Spend by two things at once; exact. */
export async function loadSpendTable(db: Db, query: SpendTableQuery): Promise<SpendTable> {
  return withEngine(db, query, async (elsewhere) => {
    if (elsewhere === undefined && tableNeedsRows(query)) return loadDayByDay(db, query);
    // One question takes the rows of all days.
    const range = tableNeedsRows(query) ? [{ source: 'rows' as const, ...stretchOf(query) }] : splitRange(query);
    const kept = await loadKept(db, query);
    const segments = divideRows(range, elsewhere);
    const cells = await askInTime(db, (ask) => askCells(ask, segments, { ...query, ...kept }));
    return { cells: cells.filter(isPaid) };
  });
}

const stretchOf = ({ fromMs, toMs }: SpendTableQuery): Stretch => ({ fromMs, toMs });

async function loadDayByDay(db: Db, query: SpendTableQuery): Promise<SpendTable> {
  const fromMs = Math.max(query.fromMs, query.toMs - MAX_CUSTOMER_DAYS * DAY_MS);
  const kept = await loadKept(db, { ...query, fromMs });
  const sums = new Map<string, SpendCell>();
  const addDay = async (tx: Db, day: Stretch) => {
    for (const cell of await askCells(askOf(tx), [{ source: 'rows', ...day }], { ...query, ...kept })) {
      const key = JSON.stringify([cell.row, cell.column]);
      sums.set(key, addCells(sums.get(key) ?? { ...cell, requests: 0, costNanoUsd: 0 }, cell));
    }
    return false;
  };
  const readFromMs = await readDays(db, { fromMs, toMs: query.toMs }, addDay, MAX_CUSTOMER_DAYS);
  // Only now: a pair may cost nothing on a day, and its requests count.
  const cells = [...sums.values()].filter(isPaid);
  return { cells, ...(readFromMs > query.fromMs ? { partialFromMs: readFromMs } : {}) };
}

const isPaid = ({ costNanoUsd }: SpendCell) => costNanoUsd !== 0;

const addCells = (sum: SpendCell, cell: SpendCell): SpendCell => ({
  ...cell,
  requests: sum.requests + cell.requests,
  costNanoUsd: sum.costNanoUsd + cell.costNanoUsd,
});

interface Kept {
  readonly keptRows: readonly string[];
  readonly keptColumns: readonly string[];
}

async function loadKept(db: Db, query: SpendTableQuery): Promise<Kept> {
  return { keptRows: await dearestOf(db, query, query.rows), keptColumns: await dearestOf(db, query, query.columns) };
}

/** Names that get a row or column of their own. */
async function dearestOf(db: Db, query: SpendTableQuery, groupBy: TableSide): Promise<readonly string[]> {
  const { fromMs, toMs, nowMs, projectId, top } = query;
  const asked = { fromMs, toMs, nowMs, projectId, top, groupBy, sums: ['requests', 'cost_usd'] as const };
  const { buckets } = await loadBuckets(db, { ...asked, withDurations: false });
  return buckets
    .filter(({ group, costNanoUsd }) => group !== OTHER_GROUPS && costNanoUsd !== 0)
    .map(({ group }) => group ?? '');
}

const PAIR = 'row_name text, column_name text, requests bigint, cost_usd numeric';

interface CellRow extends Record<string, unknown> {
  readonly row_name: string;
  readonly column_name: string;
  readonly requests: string;
  readonly cost_usd: string;
}

async function askCells(ask: Ask, segments: readonly StatsSegment[], query: SpendTableQuery & Kept) {
  if (segments.length === 0) return [];
  const sides = sidesOf(query);
  const pairs = await askPairs(segments, { scope: scopeOf(query), ...sides });
  const here = segments.filter(({ elsewhere }) => elsewhere === undefined);
  const found = await ask<CellRow>(cellsQuery(here, query, pairs));
  return found.map(
    (cell): SpendCell => ({
      row: cell.row_name,
      column: cell.column_name,
      requests: Number(cell.requests),
      costNanoUsd: nanoFromUsd(cell.cost_usd),
    }),
  );
}

const sidesOf = (query: SpendTableQuery & Kept) => ({
  rows: { groupBy: query.rows, kept: query.keptRows } satisfies StatsScope,
  columns: { groupBy: query.columns, kept: query.keptColumns } satisfies StatsScope,
});

type Pairs = Awaited<ReturnType<typeof askPairs>>;

function cellsQuery(segments: readonly StatsSegment[], query: SpendTableQuery & Kept, pairs: Pairs): SQL {
  const scope = scopeOf(query);
  const { rows, columns } = sidesOf(query);
  const parts = segments.map((segment) => {
    const requests = sql.raw(segment.source === 'rows' ? 'coalesce(refused_count, 1)' : 'requests');
    return sql`select ${groupOf(segment, rows)} as row_name, ${groupOf(segment, columns)} as column_name,
        ${requests} as requests, cost_usd
      from ${tableOf(segment, scope)} where ${within(segment, scope)}`;
  });
  if (pairs.length > 0) parts.push(sql`select * from ${asTable(pairs, PAIR)}`);
  if (parts.length === 0) parts.push(sql`select * from ${asTable([], PAIR)}`);
  return sql`select row_name, column_name, sum(requests) as requests, sum(cost_usd) as cost_usd
    from (${sql.join(parts, sql` union all `)}) as parts
    group by row_name, column_name order by row_name, column_name`;
}

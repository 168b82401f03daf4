import { and, type SQL, sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { gatewayLogs } from '../../schema/gateway-logs';
import { EngineAwayError } from '../clickhouse/ask-clickhouse';
import { countFound, tallyFound } from '../clickhouse/find-rows';
import { floorOf, type RowsElsewhere, rowsBefore, withEngine } from '../clickhouse/log-engine';
import { withoutSwitches } from '../clickhouse/without-switches';
import { readStretches } from '../stats/read/read-days';
import { OUTCOME_OF_ROW } from '../stats/read/segment-sql';
import { type Ask, askOf } from '../stats/read/time-limit';
import { type LogFilter, logConditions } from './logs';
import { type LogPage, type LogPageRequest, rangeOf, searchLogs } from './search-logs';

/** Number of rows that match a filter. */
export interface LogCount {
  readonly rows: number;
  /** Set when not all of the range could be read in time: counted from here on. */
  readonly partialFromMs?: number;
}

export interface TallyBucket {
  /** A multiple of the interval since the epoch. */
  readonly startMs: number;
  /** Of `packages/core/src/errors/outcome.ts`. */
  readonly outcome: string;
  /** A row of aggregated refusals counts each of them. */
  readonly requests: number;
}

export interface LogTally extends LogCount {
  /** Oldest first, without empty ones. */
  readonly buckets: readonly TallyBucket[];
}

/** Counts rows newest first for at most 3 s. */
export async function countRows(
  db: Db,
  { filter, nowMs, limitMs }: { readonly filter: LogFilter; readonly nowMs: number; readonly limitMs?: number },
): Promise<LogCount> {
  return ofBoth(db, { filter, nowMs }, async (here, older) => {
    let rows = older === undefined ? 0 : await countFound(older.ask, older.filter);
    const reached = await eachStretch(db, { filter: here, nowMs, limitMs, what: sql`count(*)::int as n` }, ([row]) => {
      rows += Number(row?.n ?? 0);
    });
    return { rows, ...reached };
  });
}

interface Older {
  readonly ask: Ask;
  readonly filter: LogFilter;
}

/** Reads the newest rows here, and older ones in the store that has them. */
async function ofBoth<T extends LogCount>(
  db: Db,
  { filter, nowMs }: Pick<Tallied, 'filter' | 'nowMs'>,
  read: (here: LogFilter, older: Older | undefined) => Promise<T>,
): Promise<T> {
  const readBoth = async (elsewhere: RowsElsewhere | undefined) => {
    if (elsewhere === undefined) return read(filter, undefined);
    const { splitMs, ask } = elsewhere;
    const here = { ...filter, fromMs: Math.max(filter.fromMs ?? 0, splitMs) };
    const older = { ...filter, toMs: Math.min(filter.toMs ?? splitMs, splitMs) };
    const isAny = (filter.fromMs ?? 0) < splitMs;
    return read(here, isAny ? { ask, filter: await withoutSwitches(db, older) } : undefined);
  };
  try {
    // Switches between providers are in Postgres alone.
    if (filter.failoverFrom !== undefined) return await readBoth(await rowsBefore(db, filter.fromMs));
    return await withEngine(db, { nowMs, fromMs: filter.fromMs }, readBoth);
  } catch (error) {
    const fromMs = await floorOf(db);
    if (!(error instanceof EngineAwayError) || (filter.toMs ?? nowMs) <= fromMs) throw error;
    const { partialFromMs = fromMs, ...rest } = await read({ ...filter, fromMs }, undefined);
    return { ...rest, partialFromMs } as T;
  }
}

/** Common time limit; the count gets part of it in any case. */
const PAGE_AND_COUNT_MS = 2500;
const LEAST_COUNT_MS = 300;

/** A page of rows with the total; a complete page needs no separate count. */
export async function searchAndCount(
  db: Db,
  filter: LogFilter,
  { page, nowMs }: { readonly page: LogPageRequest; readonly nowMs: number },
): Promise<LogPage & { readonly count: LogCount }> {
  const startMs = performance.now();
  const found = await searchLogs(db, filter, page, nowMs);
  const isAll = page.cursor === undefined && found.nextCursor === null && found.partialFromMs === undefined;
  if (isAll) return { ...found, count: { rows: found.data.length } };
  const limitMs = Math.max(LEAST_COUNT_MS, PAGE_AND_COUNT_MS - (performance.now() - startMs));
  const counted = await countRows(db, { filter, nowMs, limitMs });
  return { ...found, count: { ...counted, rows: Math.max(counted.rows, found.data.length) } };
}

export interface TallyQuery {
  readonly filter: LogFilter;
  readonly intervalMs: number;
  readonly nowMs: number;
}

/** Counts by time and outcome. */
export function tallyLogs(db: Db, query: TallyQuery): Promise<LogTally> {
  return ofBoth(db, query, (here, older) => tallyBoth(db, { ...query, filter: here }, older));
}

async function tallyBoth(db: Db, { filter, intervalMs, nowMs }: TallyQuery, older?: Older): Promise<LogTally> {
  const { createdAtMs, refusedCount } = gatewayLogs;
  let rows = 0;
  const buckets = new Map<string, TallyBucket>();
  const step = sql.raw(String(intervalMs));
  const what = sql`floor(extract(epoch from ${createdAtMs}) * 1000 / ${step})::float8 * ${step} as start, ${OUTCOME_OF_ROW} as outcome,
    count(*)::int as n, sum(coalesce(${refusedCount}, 1))::float8 as requests`;
  const add = (found: Found) => {
    for (const { start, outcome, n, requests } of found) {
      const key = `${start} ${outcome}`;
      rows += Number(n);
      const before = buckets.get(key)?.requests ?? 0;
      buckets.set(key, { startMs: Number(start), outcome: String(outcome), requests: before + Number(requests) });
    }
  };
  if (older !== undefined) add(await tallyFound(older.ask, older.filter, intervalMs));
  const reached = await eachStretch(db, { filter, nowMs, what, groupBy: sql`group by 1, 2` }, add);
  return { rows, buckets: [...buckets.values()].sort(byTimeAndOutcome), ...reached };
}

const byTimeAndOutcome = (a: TallyBucket, b: TallyBucket) => a.startMs - b.startMs || (a.outcome < b.outcome ? -1 : 1);

interface Tallied {
  readonly filter: LogFilter;
  readonly nowMs: number;
  readonly what: SQL;
  readonly groupBy?: SQL;
  readonly limitMs?: number;
}

type Found = readonly Readonly<Record<string, unknown>>[];

async function eachStretch(
  db: Db,
  { filter, nowMs, what, groupBy = sql``, limitMs }: Tallied,
  take: (rows: Found) => void,
): Promise<{ partialFromMs?: number }> {
  const range = await rangeOf(db, filter, nowMs);
  const reachedMs = await readStretches(db, range, { limitMs }, async (tx, stretch) => {
    const where = and(...logConditions({ ...filter, ...stretch }));
    take(await askOf(tx)(sql`select ${what} from ${gatewayLogs} where ${where} ${groupBy}`));
    return false;
  });
  return reachedMs > range.fromMs ? { partialFromMs: reachedMs } : {};
}

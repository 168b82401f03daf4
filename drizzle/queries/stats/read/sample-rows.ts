import { type SQL, sql } from 'drizzle-orm';
import type { RowsElsewhere } from '../../clickhouse/log-engine';
import { countUpTo } from '../../clickhouse/sampled-rows';
import { divideRows } from '../../clickhouse/segment-rows';
import { ofProjects } from '../../of-projects';
import { type StatsQuery, scopeOf } from './questions';
import type { Stretch } from './read-days';
import { within } from './segment-sql';
import type { Ask } from './time-limit';
import { splitRange } from './time-segments';
import { loadTotals } from './totals';

/** Up to here all rows are read, beyond it about as many. */
const MOST_ROWS = 20_000;
const WINDOWS = 50;
/** Shifts windows by ever other shares of their distance, so that periodic traffic is met in all its phases. */
const GOLDEN = (Math.sqrt(5) - 1) / 2;

export interface SampleWindow extends Stretch {
  /** Index of the part that it belongs to. */
  readonly part: number;
  /** Rows that each of its rows stands for. */
  readonly weight: number;
}

export interface RowSample {
  readonly windows: readonly SampleWindow[];
  /** False if the windows cover every row. */
  readonly isSampled: boolean;
}

export interface SampleQuery extends Pick<StatsQuery, 'fromMs' | 'toMs' | 'nowMs' | 'projectId'> {
  /** 20,000 unless given. */
  readonly mostRows?: number;
  /** Rows that Postgres isn't asked for. */
  readonly elsewhere?: RowsElsewhere | undefined;
}

/**
 * Windows over the parts of a range. Beyond `mostRows`, they are short and spread evenly over the time of a part, so
 * that each of its rows has the same chance; every part gets an equal share of the rows.
 */
export async function sampleRows(
  ask: Ask,
  query: SampleQuery,
  parts: readonly (readonly Stretch[])[],
): Promise<RowSample> {
  const stretches = parts.map((part) => part.filter(({ fromMs, toMs }) => fromMs < toMs));
  const { mostRows = MOST_ROWS } = query;
  const most = mostRows / Math.max(1, stretches.filter((part) => part.length > 0).length);
  const isSmall = await hasFewRows(ask, query);
  const windows: SampleWindow[] = [];
  let isSampled = false;
  for (const [part, own] of stretches.entries()) {
    const share =
      isSmall || own.length === 0 ? 1 : Math.min(1, most / Math.max(1, await countRequests(ask, query, own)));
    isSampled ||= share < 1;
    windows.push(...spreadWindows(own, share).map((stretch) => ({ ...stretch, part, weight: 1 / share })));
  }
  return { windows, isSampled };
}

/** Windows that together take this share of the time. */
export function spreadWindows(stretches: readonly Stretch[], share: number): readonly Stretch[] {
  if (share >= 1) return stretches;
  const wholeMs = stretches.reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0);
  return stretches.flatMap(({ fromMs, toMs }, nth) => {
    const count = Math.min(toMs - fromMs, Math.ceil((WINDOWS * (toMs - fromMs)) / wholeMs));
    const stepMs = (toMs - fromMs) / count;
    const lengthMs = Math.max(1, Math.floor(stepMs * share));
    return Array.from({ length: count }, (_, index) => {
      const phase = ((index + nth + 1) * GOLDEN) % 1;
      const startMs = Math.floor(fromMs + index * stepMs + phase * (stepMs - lengthMs));
      return { fromMs: startMs, toMs: startMs + lengthMs };
    });
  });
}

/** Table of a statement: the windows as `w`. */
export const windowsTable = (windows: readonly SampleWindow[]): SQL =>
  sql`json_to_recordset(${JSON.stringify(windows)}::json)
    as w(part int, weight float8, "fromMs" bigint, "toMs" bigint)`;

/** Condition of rows of window `w`. */
export const inWindow = ({ projectId }: SampleQuery): SQL =>
  sql`created_at >= to_timestamp(w."fromMs" / 1000.0) and created_at < to_timestamp(w."toMs" / 1000.0)
    and ${ofProjects(projectId)}`;

/** Reads one row more than the limit at most. */
async function hasFewRows(ask: Ask, query: SampleQuery): Promise<boolean> {
  const { fromMs, toMs, projectId, mostRows = MOST_ROWS, elsewhere } = query;
  const older = elsewhere === undefined ? 0 : await countUpTo(elsewhere, { fromMs, toMs, projectId }, mostRows + 1);
  const stretch = { fromMs: Math.max(fromMs, elsewhere?.splitMs ?? 0), toMs };
  const [row] = await ask<{ n: number }>(sql`select count(*)::int as n from (
    select 1 from gateway_logs where ${within({ source: 'rows', ...stretch }, { projectId })} limit ${mostRows + 1}
  ) as few`);
  return older + Number(row?.n ?? 0) <= mostRows;
}

/** From roll-ups where there are any. A row of refusals counts each of them, so rows may be fewer. */
async function countRequests(ask: Ask, query: SampleQuery, stretches: readonly Stretch[]): Promise<number> {
  const { nowMs, projectId } = query;
  const range = stretches.flatMap(({ fromMs, toMs }) => splitRange({ fromMs, toMs, nowMs }));
  const segments = divideRows(range, query.elsewhere);
  const [row] = await loadTotals(ask, segments, { ...scopeOf({ projectId }), sums: ['requests'] });
  return row?.totals.requests ?? 0;
}

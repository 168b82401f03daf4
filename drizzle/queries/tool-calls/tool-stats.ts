import { histogramQuantile, unpackHistograms } from '@llm0/core/logs/histogram';
import { type SQL, sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { nanoFromUsd } from '../../money';
import { asTable } from '../clickhouse/as-table';
import { askCallSums, CALL_SUMS } from '../clickhouse/call-rows';
import { type RowsElsewhere, withEngine } from '../clickhouse/log-engine';
import { ofProjects, type ProjectScope } from '../of-projects';
import type { Percentiles } from '../stats/read/durations';
import { OTHER_GROUPS } from '../stats/read/questions';
import { askInTime, QuestionTooLargeError } from '../stats/read/time-limit';
import { type StatsSegment, splitRange } from '../stats/read/time-segments';
import { UNFOUND } from './tool-call-facts';

/** Dimensions of calls; the tool is `alias__name`, or `alias__` for calls without one. */
const GROUPS = {
  server: sql`server`,
  tool: sql`server || '__' || tool`,
  project: sql`project_id::text`,
  key: sql`api_key_id::text`,
} as const satisfies Record<string, SQL>;

export type ToolGroupBy = keyof typeof GROUPS;
export const TOOL_GROUPS = Object.keys(GROUPS) as [ToolGroupBy, ...ToolGroupBy[]];

export interface ToolStatsQuery {
  readonly fromMs: number;
  /** Exclusive. */
  readonly toMs: number;
  readonly nowMs: number;
  /** Buckets start at multiples of it since the epoch (UTC). Absent = one bucket over all. */
  readonly intervalMs?: number;
  readonly groupBy?: ToolGroupBy;
  /** Maximum of groups, dearest first; the rest is `OTHER_GROUPS`. */
  readonly top?: number;
  readonly projectId?: ProjectScope;
  readonly apiKeyId?: string;
  readonly server?: string;
  readonly tool?: string;
  readonly status?: string;
}

export interface ToolStatsBucket {
  readonly startMs: number;
  /** null without `groupBy`. */
  readonly group: string | null;
  readonly calls: number;
  /** The tool reported a failure, or there was no answer. */
  readonly errors: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly costNanoUsd: number;
  readonly latency: Percentiles;
}

export interface ToolStats {
  /** Buckets with calls, oldest first. */
  readonly buckets: readonly ToolStatsBucket[];
  /** Number of groups, hidden ones included. */
  readonly groups: number;
}

interface SumRow extends Record<string, unknown> {
  readonly start_ms: string;
  readonly grp: string;
  readonly groups: string;
  readonly calls: string;
  readonly errors: string;
  readonly bytes_in: string;
  readonly bytes_out: string;
  readonly cost_usd: string;
  readonly latency: Uint8Array;
}

const MAX_BUCKETS = 50_000;

/** Sums by interval and group: full hours and days from the roll-ups, the rest from rows, exact to the millisecond. */
export async function loadToolStats(db: Db, query: ToolStatsQuery): Promise<ToolStats> {
  const segments = splitRange(query);
  if (segments.length === 0) return { buckets: [], groups: 0 };
  const rows = await withEngine(db, query, async (elsewhere) => {
    const parts: SQL[] = [];
    for (const segment of segments) parts.push(...(await partsOf(segment, query, elsewhere)));
    return askInTime(db, (ask) => ask<SumRow>(sumsQuery(parts, query)));
  });
  if (rows.length > MAX_BUCKETS) throw new QuestionTooLargeError('that makes more buckets than anybody reads');
  const buckets = rows.map((row) => toBucket(row, query));
  return { buckets, groups: Number(rows[0]?.groups ?? 0) };
}

function sumsQuery(parts: readonly SQL[], { top }: ToolStatsQuery): SQL {
  const shown = top === undefined ? sql`grp` : sql`case when place <= ${top} then grp else ${OTHER_GROUPS} end as grp`;
  return sql`
    with parts as materialized (${sql.join([...parts], sql` union all `)}), ranked as materialized (
      select grp as name, row_number() over (order by sum(cost_usd) desc, sum(calls) desc, grp) as place
      from parts group by grp
    )
    select start_ms, ${shown}, sum(calls) as calls, sum(errors) as errors, sum(bytes_in) as bytes_in,
      sum(bytes_out) as bytes_out, sum(cost_usd) as cost_usd, string_agg(latency, ''::bytea) as latency,
      (select count(*) from ranked) as groups
    from parts join ranked on name = grp group by 1, 2 order by 1, 2 limit ${sql.raw(String(MAX_BUCKETS + 1))}`;
}

const UNFOUND_CODES = sql.raw([...UNFOUND].map((code) => `'${code}'`).join(', '));

/** Rows in the shape of the roll-ups; the tool as `rolledUpTool` names it. */
const ROWS = sql`(select created_at as bucket, project_id, api_key_id, server, status,
    case when error_code in (${UNFOUND_CODES}) then '' else tool end as tool, 1 as calls, is_error::int as errors,
    bytes_in, bytes_out, cost_usd, llm0_histogram_of(latency_ms) as latency_histogram from tool_calls) as calls`;

/** There are no minutes of tools: these are read from rows. */
const SOURCES: Readonly<Record<string, SQL>> = {
  rollup_hour: sql`rollup_tool_hour`,
  rollup_day: sql`rollup_tool_day`,
};

/** Of a segment; its older rows are elsewhere. */
async function partsOf(segment: StatsSegment, query: ToolStatsQuery, elsewhere: RowsElsewhere | undefined) {
  const { source, fromMs, toMs } = segment;
  const cutMs = Math.min(toMs, elsewhere?.callsMs ?? 0);
  if (elsewhere === undefined || source in SOURCES || cutMs <= fromMs) return [partOf(segment, query)];
  const older = asTable(await askCallSums(elsewhere.ask, { fromMs, toMs: cutMs }, query), CALL_SUMS);
  return [sql`select * from ${older}`, partOf({ ...segment, fromMs: cutMs }, query)];
}

function partOf({ source, fromMs, toMs }: StatsSegment, query: ToolStatsQuery): SQL {
  const { intervalMs, groupBy, projectId, apiKeyId, server, tool, status } = query;
  const step = sql.raw(String(Math.trunc(intervalMs ?? 1)));
  const start = sql`((date_part('epoch', bucket) * 1000)::bigint / ${step}) * ${step}`;
  const conditions = [
    sql`bucket >= to_timestamp(${fromMs}::bigint / 1000.0) and bucket < to_timestamp(${toMs}::bigint / 1000.0)`,
    projectId === undefined ? undefined : ofProjects(projectId),
    apiKeyId === undefined ? undefined : sql`api_key_id = ${apiKeyId}::uuid`,
    server === undefined ? undefined : sql`server = ${server}`,
    tool === undefined ? undefined : sql`tool = ${tool}`,
    status === undefined ? undefined : sql`status = ${status}`,
  ].filter((condition) => condition !== undefined);
  return sql`select ${intervalMs === undefined ? sql`0::bigint` : start} as start_ms,
      ${groupBy === undefined ? sql`''` : GROUPS[groupBy]} as grp, sum(calls) as calls, sum(errors) as errors,
      sum(bytes_in) as bytes_in, sum(bytes_out) as bytes_out, sum(cost_usd) as cost_usd,
      string_agg(latency_histogram, ''::bytea) as latency
    from ${SOURCES[source] ?? ROWS} where ${sql.join(conditions, sql` and `)} group by 1, 2`;
}

function toBucket(row: SumRow, { fromMs, intervalMs, groupBy }: ToolStatsQuery): ToolStatsBucket {
  const histogram = unpackHistograms([row.latency]);
  const at = (share: number) => histogramQuantile(histogram, share);
  return {
    startMs: intervalMs === undefined ? fromMs : Number(row.start_ms),
    group: groupBy === undefined ? null : row.grp,
    calls: Number(row.calls),
    errors: Number(row.errors),
    bytesIn: Number(row.bytes_in),
    bytesOut: Number(row.bytes_out),
    costNanoUsd: nanoFromUsd(row.cost_usd),
    latency: { p50: at(0.5), p95: at(0.95), p99: at(0.99) },
  };
}

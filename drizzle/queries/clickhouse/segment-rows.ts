import { GAMMA, MAX_BIN, MIN_MS } from '@llm0/core/logs/histogram';
import { type SQL, sql } from 'drizzle-orm';
import type { ProjectScope } from '../of-projects';
import { type GroupBy, type MetricName, OTHER_GROUPS, type StatsScope, type SumColumn } from '../stats/read/questions';
import {
  CACHE_OF_ROW,
  GROUPS_OF_ROWS,
  MODALITY_OF_ROW,
  OUTCOME_OF_ROW,
  PROVIDER_OF_ROW,
} from '../stats/read/segment-sql';
import type { Ask } from '../stats/read/time-limit';
import type { StatsSegment } from '../stats/read/time-segments';
import { CALLS_AS_ROWS_ELSEWHERE } from '../tool-calls/calls-as-rows';
import type { RowsElsewhere } from './log-engine';

/** Gives the parts of a range to the store that has their rows. */
export function divideRows(
  segments: readonly StatsSegment[],
  elsewhere: RowsElsewhere | undefined,
): readonly StatsSegment[] {
  if (elsewhere === undefined) return segments;
  return segments.flatMap((segment) => {
    if (segment.source !== 'rows') return [segment];
    const cutAt = (ms: number) => Math.min(segment.toMs, Math.max(segment.fromMs, ms));
    const [cutMs, callsMs] = [cutAt(elsewhere.splitMs), cutAt(elsewhere.callsMs)];
    const parts: readonly StatsSegment[] = [
      { ...segment, toMs: cutMs, elsewhere: elsewhere.ask },
      { ...segment, toMs: callsMs, elsewhere: elsewhere.ask, isOfCalls: true },
      { ...segment, fromMs: callsMs, toMs: cutMs, isOfCalls: true },
      { ...segment, fromMs: cutMs },
    ];
    return parts.filter(({ fromMs, toMs }) => fromMs < toMs);
  });
}

/** One version of each row. */
export const ROWS = sql.raw('gateway_logs final');
export const CALL_ROWS = sql.raw('tool_calls final');
/** Rows of a segment. */
export const rowsOf = ({ isOfCalls }: Pick<StatsSegment, 'isOfCalls'>): SQL =>
  isOfCalls === true ? CALLS_AS_ROWS_ELSEWHERE : ROWS;
/** Milliseconds since the epoch. */
export const CREATED_MS = sql.raw('toUnixTimestamp64Milli(created_at)');

/** Later times have no place in the column's type. */
export const LAST_MS = Date.UTC(2200, 0);

export const instantOf = (ms: number): SQL =>
  sql.raw(`fromUnixTimestamp64Milli(${Math.floor(Math.min(LAST_MS, Math.max(0, ms)))})`);

/** As `ofProjects`. */
export function isOfProjects(scope: ProjectScope): SQL {
  if (scope === undefined) return sql`true`;
  const ids = [scope].flat();
  return ids.length === 0 ? sql`false` : sql`project_id in (${listOf(ids)})`;
}

/** Values of a list in parentheses. */
export const listOf = (values: readonly (string | number)[]): SQL =>
  sql.join(
    values.map((value) => sql`${value}`),
    sql`, `,
  );

/** Groups of rows; places of projects are named afterwards. */
const GROUPS = {
  project: sql`toString(project_id)`,
  key: sql`toString(api_key_id)`,
  ...GROUPS_OF_ROWS,
  team: sql`toString(project_id)`,
  cost_center: sql`toString(project_id)`,
} as const satisfies Record<Exclude<GroupBy, `label.${string}`>, SQL>;

export const labelOf = (name: string): SQL => sql`labels[${name}]`;

export function groupOfRows({ groupBy, kept }: Pick<StatsScope, 'groupBy' | 'kept'>): SQL {
  if (groupBy === undefined) return sql`null`;
  const name = groupBy.startsWith('label.')
    ? labelOf(groupBy.slice('label.'.length))
    : GROUPS[groupBy as keyof typeof GROUPS];
  if (kept === undefined || groupBy === 'team' || groupBy === 'cost_center') return name;
  return kept.length === 0 ? sql`${OTHER_GROUPS}` : sql`if(${name} in (${listOf(kept)}), ${name}, ${OTHER_GROUPS})`;
}

export function withinRows({ fromMs, toMs }: Pick<StatsSegment, 'fromMs' | 'toMs'>, scope: StatsScope): SQL {
  const equal = (column: SQL, value: string | undefined) =>
    value === undefined ? undefined : sql`${column} = ${value}`;
  const conditions = [
    sql`created_at >= ${instantOf(Math.ceil(fromMs))} and created_at < ${instantOf(Math.ceil(toMs))}`,
    isOfProjects(scope.projectId),
    equal(sql`api_key_id`, scope.apiKeyId),
    equal(sql`model`, scope.model),
    equal(PROVIDER_OF_ROW, scope.provider),
    equal(sql`status`, scope.status),
    equal(OUTCOME_OF_ROW, scope.outcome),
    equal(CACHE_OF_ROW, scope.cache),
    equal(sql`customer_id`, scope.customerId),
    equal(MODALITY_OF_ROW, scope.modality),
    scope.groupBy === 'error_code' ? sql`error_code is not null` : undefined,
  ];
  return sql.join(
    conditions.filter((condition) => condition !== undefined),
    sql` and `,
  );
}

/** As `startOf` of Postgres. */
export const startOf = (intervalMs: number | undefined): SQL => {
  if (intervalMs === undefined) return sql`0`;
  const step = sql.raw(String(Math.trunc(intervalMs)));
  return sql`intDiv(${CREATED_MS}, ${step}) * ${step}`;
};

const REQUESTS = 'coalesce(refused_count, 1)';
const ofOutcomes = (...names: readonly string[]) => {
  const listed = names.map((name) => `'${name}'`).join(', ');
  return sql`sumIf(${sql.raw(REQUESTS)}, ${OUTCOME_OF_ROW} in (${sql.raw(listed)}))`;
};
const sumOf = (text: string) => sql.raw(`sum(${text})`);

/** Sums of rows, as those of Postgres. */
const SUMS = {
  requests: sumOf(REQUESTS),
  success: ofOutcomes('success'),
  errors: ofOutcomes('error', 'caller_error'),
  failures: ofOutcomes('error'),
  caller_errors: ofOutcomes('caller_error'),
  rate_limited: ofOutcomes('rate_limited'),
  cap_exceeded: ofOutcomes('cap_exceeded'),
  aborted: ofOutcomes('aborted'),
  tokens_in: sumOf('tokens_in'),
  tokens_out: sumOf('tokens_out'),
  tokens_cache_read: sumOf('tokens_cache_read'),
  tokens_cache_write: sumOf('tokens_cache_write'),
  tokens_reasoning: sumOf('tokens_reasoning'),
  cost_usd: sumOf('cost_usd'),
  saved_usd: sumOf('saved_usd'),
  exact_hits: sql.raw('countIf(cache_hit and not semantic_cache_hit)'),
  semantic_hits: sql.raw('countIf(semantic_cache_hit)'),
  failovers: sumOf('failover_count'),
} as const satisfies Record<SumColumn, SQL>;

type Placed = { readonly start_ms: string | number; readonly grp: string | null };
export type SumsRow = Placed & Readonly<Record<SumColumn, string>>;

/** Sums of a segment by bucket and group; unwanted ones are zero. */
export function askSums(
  ask: Ask,
  segment: StatsSegment,
  { scope, wanted }: { readonly scope: StatsScope; readonly wanted: readonly SumColumn[] },
): Promise<readonly SumsRow[]> {
  const names = Object.keys(SUMS) as SumColumn[];
  const sums = names.map((name) => sql`${wanted.includes(name) ? SUMS[name] : sql`0`} as ${sql.raw(name)}`);
  return ask<SumsRow>(sql`select ${startOf(scope.intervalMs)} as start_ms, ${groupOfRows(scope)} as grp,
      ${sql.join(sums, sql`, `)}
    from ${rowsOf(segment)} where ${withinRows(segment, scope)} group by 1, 2 having count() > 0`);
}

const LOG_GAMMA = Math.log(GAMMA);
/** As `binOf`. */
export const binOf = (ms: string): SQL =>
  sql.raw(`if(${ms} > ${MIN_MS}, least(${MAX_BIN}, toUInt16(ceil(log(${ms} / ${MIN_MS}) / ${LOG_GAMMA}))), 0)`);

export type BinRow = Placed & { readonly bin: string | number; readonly n: string | number };

/** Durations of a segment by bucket, group and bin of the histogram. */
export function askBins(
  ask: Ask,
  segment: StatsSegment,
  { scope, metric }: { readonly scope: StatsScope; readonly metric: MetricName },
): Promise<readonly BinRow[]> {
  const ms = `${metric}_ms`;
  return ask<BinRow>(sql`select ${startOf(scope.intervalMs)} as start_ms, ${groupOfRows(scope)} as grp,
      ${binOf(ms)} as bin, count() as n
    from ${ROWS} where ${withinRows(segment, scope)} and ${sql.raw(ms)} is not null group by 1, 2, 3`);
}

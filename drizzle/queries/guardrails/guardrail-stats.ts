import { type SQL, sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { asTable } from '../clickhouse/as-table';
import { type RowsElsewhere, rowsBefore } from '../clickhouse/log-engine';
import { askMarks } from '../clickhouse/marked-rows';
import { instant } from '../instant';
import { ofProjects, type ProjectScope } from '../of-projects';
import { askInTime, QuestionTooLargeError } from '../stats/read/time-limit';
import { type StatsSegment, splitRange } from '../stats/read/time-segments';
import type { GuardrailOutcome } from './guardrail-rollups';

/** Key of a hit. */
const GROUPS = {
  rule: sql`rule`,
  check: sql`check_type`,
  action: sql`action`,
  outcome: sql`outcome`,
  side: sql`side`,
  project: sql`project_id::text`,
} as const satisfies Record<string, SQL>;

export type GuardrailGroupBy = keyof typeof GROUPS;
export const GUARDRAIL_GROUPS = Object.keys(GROUPS) as [GuardrailGroupBy, ...GuardrailGroupBy[]];

export interface GuardrailStatsQuery {
  readonly fromMs: number;
  /** Exclusive. */
  readonly toMs: number;
  readonly nowMs: number;
  /** Buckets start at multiples of it since the epoch (UTC). Absent = one bucket over all. */
  readonly intervalMs?: number;
  readonly groupBy?: GuardrailGroupBy;
  readonly projectId?: ProjectScope;
  readonly rule?: string;
  readonly outcome?: GuardrailOutcome;
}

export interface GuardrailBucket {
  readonly startMs: number;
  /** null without `groupBy`. */
  readonly group: string | null;
  /** Requests and tool calls in which a rule found something, or could not be asked; each rule counts. */
  readonly requests: number;
  readonly matches: number;
  /** Milliseconds that its checks took there. */
  readonly ms: number;
}

interface SumRow extends Record<string, unknown> {
  readonly start_ms: string;
  readonly grp: string;
  readonly requests: string;
  readonly matches: string;
  readonly ms: number;
}

const MAX_BUCKETS = 20_000;
const MARKED = (table: 'gateway_logs' | 'tool_calls') => sql`
  select l.created_at as bucket, l.project_id, l.id, m.value ->> 'rule' as rule, m.value ->> 'on' as side,
    m.value ->> 'check' as check_type, m.value ->> 'action' as action,
    coalesce(m.value ->> 'error', case when (m.value ->> 'shadow')::boolean then 'watched' end, 'done') as outcome,
    (m.value ->> 'count')::bigint as matches, (m.value ->> 'ms')::float8 as ms
  from ${sql.identifier(table)} l cross join lateral jsonb_array_elements(l.guardrails) as m
  where l.guardrails is not null`;

const MARK =
  'ms float8, project_id uuid, rule text, side text, ' +
  'check_type text, action text, outcome text, matches numeric, took_ms float8';

/** Marks elsewhere, and from where on those of Postgres count. */
interface OlderMarks {
  readonly rows: readonly object[];
  readonly splitMs: number;
  readonly callsMs: number;
}

async function askOlder(elsewhere: RowsElsewhere | undefined, range: HitRange): Promise<OlderMarks> {
  const { splitMs = 0, callsMs = 0 } = elsewhere ?? {};
  return { rows: await askMarks(elsewhere, range), splitMs, callsMs };
}

const NOTHING: OlderMarks = { rows: [], splitMs: 0, callsMs: 0 };

/** Marks of rows in the shape of the roll-ups: one rule in several parts of a request counts once. */
const rowsIn = (range: (column: SQL) => SQL, { rows, splitMs, callsMs }: OlderMarks) => sql`(
  select to_timestamp(ms / 1000.0) as bucket, project_id, rule, side, check_type, action, outcome, 1 as requests, matches,
    took_ms as ms from ${asTable(rows, MARK)}
  union all select bucket, project_id, rule, side, check_type, action, outcome, 1 as requests, sum(matches) as matches, sum(ms) as ms
  from (${MARKED('gateway_logs')} and ${range(sql`l.created_at`)} and l.created_at >= ${instant(splitMs)}
    union all ${MARKED('tool_calls')} and ${range(sql`l.created_at`)} and l.created_at >= ${instant(callsMs)}) as marks
  group by bucket, project_id, id, rule, side, check_type, action, outcome) as marked`;

/** There are no minutes of guardrails: these are read from rows, of which few have any. */
const SOURCES: Readonly<Record<string, SQL>> = {
  rollup_hour: sql`rollup_guardrail_hour`,
  rollup_day: sql`rollup_guardrail_day`,
};

/** Sums by interval and group, oldest first: full hours and days from the roll-ups, the rest from rows. */
export async function loadGuardrailStats(db: Db, query: GuardrailStatsQuery): Promise<readonly GuardrailBucket[]> {
  const segments = splitRange(query);
  if (segments.length === 0) return [];
  const elsewhere = await rowsBefore(db, query.fromMs);
  const parts: SQL[] = [];
  for (const segment of segments) {
    const older = segment.source === 'rows' ? await askOlder(elsewhere, { ...query, ...segment }) : NOTHING;
    parts.push(partOf(segment, query, older));
  }
  const whole = sql`
    select start_ms, grp, sum(requests) as requests, sum(matches) as matches, sum(ms)::float8 as ms
    from (${sql.join(parts, sql` union all `)}) as parts
    group by 1, 2 order by 1, 2 limit ${sql.raw(String(MAX_BUCKETS + 1))}`;
  const rows = await askInTime(db, (ask) => ask<SumRow>(whole));
  if (rows.length > MAX_BUCKETS) throw new QuestionTooLargeError('that makes more buckets than anybody reads');
  return rows.map(({ start_ms: start, grp, requests, matches, ms }) => ({
    startMs: query.intervalMs === undefined ? query.fromMs : Number(start),
    group: query.groupBy === undefined ? null : grp,
    ...{ requests: Number(requests), matches: Number(matches), ms: Number(ms) },
  }));
}

function partOf({ source, fromMs, toMs }: StatsSegment, query: GuardrailStatsQuery, older: OlderMarks): SQL {
  const { intervalMs, groupBy, projectId, rule, outcome } = query;
  const within = (column: SQL) =>
    sql`${column} >= to_timestamp(${fromMs}::bigint / 1000.0) and ${column} < to_timestamp(${toMs}::bigint / 1000.0)`;
  const step = sql.raw(String(Math.trunc(intervalMs ?? 1)));
  const start = sql`((date_part('epoch', bucket) * 1000)::bigint / ${step}) * ${step}`;
  const conditions = [
    within(sql`bucket`),
    projectId === undefined ? undefined : ofProjects(projectId),
    rule === undefined ? undefined : sql`rule = ${rule}`,
    outcome === undefined ? undefined : sql`outcome = ${outcome}`,
  ].filter((condition) => condition !== undefined);
  return sql`select ${intervalMs === undefined ? sql`0::bigint` : start} as start_ms,
      ${groupBy === undefined ? sql`''` : GROUPS[groupBy]} as grp, requests, matches, ms
    from ${SOURCES[source] ?? rowsIn(within, older)} where ${sql.join(conditions, sql` and `)}`;
}

export interface HitRange {
  readonly fromMs: number;
  /** Exclusive. */
  readonly toMs: number;
  readonly projectId?: ProjectScope;
}

/** Times of findings (not of failed checks), oldest first, one for each row and rule. Returns the newest `limit`. */
export async function listGuardrailHits(
  db: Db,
  range: HitRange & { readonly limit: number },
): Promise<readonly number[]> {
  const hits = hitsIn(range, await askOlder(await rowsBefore(db, range.fromMs), range));
  const rows = await db.execute<{ ms: number }>(sql`
    select (extract(epoch from bucket) * 1000)::float8 as ms from ${hits} order by bucket desc limit ${range.limit}`);
  return rows.map(({ ms }) => ms).reverse();
}

export async function countGuardrailHits(db: Db, range: HitRange): Promise<number> {
  const hits = hitsIn(range, await askOlder(await rowsBefore(db, range.fromMs), range));
  const [row] = await db.execute<{ hits: string }>(sql`select count(*) as hits from ${hits}`);
  return Number(row?.hits ?? 0);
}

function hitsIn({ fromMs, toMs, projectId }: HitRange, older: OlderMarks): SQL {
  const marked = rowsIn((column) => {
    const within = sql`${column} >= to_timestamp(${fromMs}::bigint / 1000.0) and ${column} < to_timestamp(${toMs}::bigint / 1000.0)`;
    return sql`${within} and ${ofProjects(projectId, sql`l.project_id`)}`;
  }, older);
  return sql`${marked} where outcome in ('done', 'watched')`;
}

import { type SQL, sql } from 'drizzle-orm';
import { customerHours } from './customer-hours';
import type { GroupBy } from './stats';
import { customerTable, OTHER_GROUPS } from './stats-customers';
import type { StatsSegment } from './stats-range';

export const METRIC_NAMES = ['latency', 'ttft', 'overhead', 'upstream'] as const;
export type MetricName = (typeof METRIC_NAMES)[number];

/** SQL for the bin of a histogram's element: half a bin's step is added, so that counts below zero stay with their bin. */
export const binOf = (element: string): string => `(${element} + ${2 ** 39}) >> 40`;

/** Rows that count; all conditions must hold. Labels and customers are in rows only. */
export interface StatsFilter {
  readonly projectId?: string;
  readonly apiKeyId?: string;
  readonly model?: string;
  readonly provider?: string;
  readonly status?: string;
  readonly customerId?: string;
}

export interface StatsScope extends StatsFilter {
  /** Absent = one total, with start 0. */
  readonly intervalMs?: number;
  readonly groupBy?: GroupBy;
  /** Durations wanted; absent = all. */
  readonly metrics?: readonly MetricName[];
  /** Groups that keep their name; all others come together as `OTHER_GROUPS`. */
  readonly kept?: readonly string[];
  /** Sums wanted; absent = all. */
  readonly sums?: readonly SumColumn[];
}

/** The conditions of a query alone. */
export function scopeOf({ projectId, apiKeyId, model, provider, status, customerId }: StatsFilter): StatsScope {
  return { projectId, apiKeyId, model, provider, status, customerId };
}

/** Group → expression over `gateway_logs` and over the roll-ups that have it; labels are in rows only. */
const ROW_GROUPS: Readonly<Record<string, SQL>> = {
  project: sql`project_id::text`,
  key: sql`api_key_id::text`,
  model: sql`model`,
  provider: sql`coalesce(final_provider, provider, '')`,
  customer: sql`coalesce(customer_id, '')`,
  status: sql`status`,
  error_code: sql`coalesce(error_code, '')`,
};
const ROLLUP_GROUPS: Readonly<Record<string, SQL>> = {
  project: sql`project_id::text`,
  key: sql`api_key_id::text`,
  model: sql`model`,
  provider: sql`provider`,
  status: sql`status`,
  customer: sql`customer_id`,
  error_code: sql`error_code`,
};

export function groupOf(segment: StatsSegment, { groupBy, kept }: StatsScope): SQL {
  return groupBy === undefined ? sql`null::text` : nameOfKept(nameOf(segment, groupBy), kept);
}

/** A group's name, or that of all others. */
export function nameOfKept(name: SQL, kept: readonly string[] | undefined): SQL {
  if (kept === undefined) return name;
  return sql`case when ${name} in ${listOf(kept)}
    then ${name} else ${OTHER_GROUPS} end`;
}

/** What stands right of `in`: one parameter, however many there are. */
export const listOf = (names: readonly string[]): SQL =>
  sql`(select value from jsonb_array_elements_text(${JSON.stringify(names)}::jsonb))`;

function nameOf(segment: StatsSegment, groupBy: GroupBy): SQL {
  if (groupBy.startsWith('label.')) return sql`coalesce(labels ->> ${groupBy.slice('label.'.length)}, '')`;
  const group = (segment.source === 'rows' ? ROW_GROUPS : ROLLUP_GROUPS)[groupBy];
  if (group === undefined) throw new RangeError(`roll-ups have no ${groupBy}`);
  return group;
}

const timeOf = (segment: StatsSegment) => sql.identifier(segment.source === 'rows' ? 'created_at' : 'bucket');

/** Where a segment is read from; roll-ups with fewer columns are brought into the shape of the others. */
export function tableOf(segment: StatsSegment, scope: StatsScope): SQL {
  const { groupBy } = scope;
  if (segment.source === 'customer_spend') return customerTable(segment, scope);
  if (segment.source === 'customer_spend_hour') return customerHours(segment, scope);
  if (segment.source === 'rollup_error')
    return sql`(select bucket, project_id, model, provider, status, error_code, requests,
    'miss' as cache, 0 as failovers, ${NO_TOKENS} from rollup_error) as rollup_error`;
  if (segment.source !== 'rows') return sql`${sql.identifier(segment.source)}`;
  return groupBy === 'error_code'
    ? sql`(select * from gateway_logs where error_code is not null) as gateway_logs`
    : sql`gateway_logs`;
}

const NO_TOKENS = sql.raw(`0 as tokens_in, 0 as tokens_out, 0 as tokens_cache_read, 0 as tokens_cache_write,
  0 as tokens_reasoning, 0 as cost_usd, 0 as saved_usd`);

export function startOf(segment: StatsSegment, intervalMs: number | undefined): SQL {
  if (intervalMs === undefined) return sql`0::bigint`;
  const step = sql.raw(String(Math.trunc(intervalMs)));
  // date_part counts in doubles, exact to the millisecond; extract would in numerics, many times slower.
  return sql`((date_part('epoch', ${timeOf(segment)}) * 1000)::bigint / ${step}) * ${step}`;
}

export function within(segment: StatsSegment, scope: StatsScope): SQL {
  const time = timeOf(segment);
  const provider = segment.source === 'rows' ? sql`coalesce(final_provider, provider, '')` : sql`provider`;
  const conditions = [
    sql`${time} >= to_timestamp(${segment.fromMs}::bigint / 1000.0)`,
    sql`${time} < to_timestamp(${segment.toMs}::bigint / 1000.0)`,
    scope.projectId === undefined ? undefined : sql`project_id = ${scope.projectId}::uuid`,
    scope.apiKeyId === undefined ? undefined : sql`api_key_id = ${scope.apiKeyId}::uuid`,
    scope.model === undefined ? undefined : sql`model = ${scope.model}`,
    scope.provider === undefined ? undefined : sql`${provider} = ${scope.provider}`,
    scope.status === undefined ? undefined : sql`status = ${scope.status}`,
    scope.customerId === undefined ? undefined : sql`customer_id = ${scope.customerId}`,
    segment.onlyOthers === true && scope.groupBy !== undefined && scope.kept !== undefined
      ? sql`${nameOf(segment, scope.groupBy)} not in ${listOf(scope.kept)}`
      : undefined,
  ];
  return sql.join(
    conditions.filter((condition) => condition !== undefined),
    sql` and `,
  );
}

/** What can be added up, by its column, in the order of a part's columns. */
export const SUM_COLUMNS = [
  'requests',
  'success',
  'errors',
  'rate_limited',
  'cap_exceeded',
  'aborted',
  'tokens_in',
  'tokens_out',
  'tokens_cache_read',
  'tokens_cache_write',
  'tokens_reasoning',
  'cost_usd',
  'saved_usd',
  'exact_hits',
  'semantic_hits',
  'failovers',
] as const;
export type SumColumn = (typeof SUM_COLUMNS)[number];

const LESS = sql.raw(SUM_COLUMNS.map((name) => `-${name} as ${name}`).join(', '));

/** Sums nobody asked for are zero: each that is added up costs time for every row read. */
function summed(wanted: readonly SumColumn[]): SQL {
  const columns = SUM_COLUMNS.map((name) => (wanted.includes(name) ? `sum(${name}) as ${name}` : `0 as ${name}`));
  return sql.raw(columns.join(', '));
}

const BY_STATUS = (n: string) =>
  sql.raw(
    [
      ['success', 'success'],
      ['error', 'errors'],
      ['rate_limited', 'rate_limited'],
      ['cap_exceeded', 'cap_exceeded'],
      ['aborted', 'aborted'],
    ]
      .map(([status, name]) => `case when status = '${status}' then ${n} else 0 end as ${name}`)
      .join(', '),
  );
const TOKENS_AND_MONEY = sql.raw(
  'tokens_in, tokens_out, tokens_cache_read, tokens_cache_write, tokens_reasoning, cost_usd, saved_usd',
);

/** One row for each bucket and group: sums over all segments. */
export function totalsQuery(segments: readonly StatsSegment[], scope: StatsScope): SQL {
  const parts = segments.map((segment) => {
    const rows = segment.source === 'rows';
    const counts = rows
      ? sql`1 as requests, ${BY_STATUS('1')}, ${TOKENS_AND_MONEY},
          (cache_hit and not semantic_cache_hit)::int as exact_hits, semantic_cache_hit::int as semantic_hits,
          failover_count as failovers`
      : sql`requests, ${BY_STATUS('requests')}, ${TOKENS_AND_MONEY},
          case when cache = 'exact' then requests else 0 end as exact_hits,
          case when cache = 'semantic' then requests else 0 end as semantic_hits, failovers`;
    const part = sql`select ${startOf(segment, scope.intervalMs)} as start_ms, ${groupOf(segment, scope)} as grp, ${counts}
      from ${tableOf(segment, scope)} where ${within(segment, scope)}`;
    return segment.isLess === true ? sql`select start_ms, grp, ${LESS} from (${part}) as less` : part;
  });
  const { shown, by } = placeOf(scope);
  return sql`select ${shown}, ${summed(scope.sums ?? SUM_COLUMNS)} from (${sql.join(parts, sql` union all `)}) as parts
    ${by === undefined ? sql`` : sql`group by ${by}`} having sum(requests) <> 0 ${by === undefined ? sql`` : sql`order by ${by}`}`;
}

/** Start and group of a result's rows; only what tells rows apart is grouped by, since each column costs time for every row. */
export function placeOf({ intervalMs, groupBy }: StatsScope): { readonly shown: SQL; readonly by: SQL | undefined } {
  const start = intervalMs === undefined ? sql`0::bigint as start_ms` : sql`start_ms`;
  const shown = sql`${start}, ${groupBy === undefined ? sql`null::text as grp` : sql`grp`}`;
  const by = [intervalMs === undefined ? undefined : sql`start_ms`, groupBy === undefined ? undefined : sql`grp`];
  const named = by.filter((column) => column !== undefined);
  return { shown, by: named.length === 0 ? undefined : sql.join(named, sql`, `) };
}

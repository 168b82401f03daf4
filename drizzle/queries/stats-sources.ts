import { type SQL, sql } from 'drizzle-orm';
import type { GroupBy } from './stats';
import type { StatsSegment } from './stats-range';

export const METRIC_NAMES = ['latency', 'ttft', 'overhead', 'upstream'] as const;
export type MetricName = (typeof METRIC_NAMES)[number];

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
}

/** The conditions of a query alone. */
export function scopeOf({ projectId, apiKeyId, model, provider, status, customerId }: StatsFilter): StatsScope {
  return { projectId, apiKeyId, model, provider, status, customerId };
}

/** Name of all groups beyond those asked for. */
export const OTHER_GROUPS = '(other)';

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

function groupOf(segment: StatsSegment, { groupBy, kept }: StatsScope): SQL {
  if (groupBy === undefined) return sql`null::text`;
  const name = nameOf(segment, groupBy);
  if (kept === undefined) return name;
  return sql`case when ${name} in (select value from jsonb_array_elements_text(${JSON.stringify(kept)}::jsonb))
    then ${name} else ${OTHER_GROUPS} end`;
}

function nameOf(segment: StatsSegment, groupBy: GroupBy): SQL {
  if (groupBy.startsWith('label.')) return sql`coalesce(labels ->> ${groupBy.slice('label.'.length)}, '')`;
  const group = (segment.source === 'rows' ? ROW_GROUPS : ROLLUP_GROUPS)[groupBy];
  if (group === undefined) throw new RangeError(`roll-ups have no ${groupBy}`);
  return group;
}

const timeOf = (segment: StatsSegment) => sql.identifier(segment.source === 'rows' ? 'created_at' : 'bucket');

/** Where a segment is read from; roll-ups with fewer columns are brought into the shape of the others. */
function tableOf(segment: StatsSegment, scope: StatsScope): SQL {
  const { groupBy } = scope;
  if (segment.source === 'customer_spend') return customerTable(segment, scope);
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

/**
 * Days by customer, projects together; what all requests of a day have more than that is of no customer (''). Customers
 * are added up once and narrowed to the day before, so that the table is read a single time.
 */
function customerTable({ fromMs, toMs }: StatsSegment, { projectId, intervalMs }: StatsScope): SQL {
  const day = (ms: number) => sql`${new Date(ms).toISOString().slice(0, 10)}::date`;
  const ofProject = projectId === undefined ? sql`` : sql`and project_id = ${projectId}::uuid`;
  // Without intervals all days count as the first.
  const date = intervalMs === undefined ? day(fromMs) : sql`date`;
  const customers = sql`select ${date} as date, customer_id, sum(request_count) as requests, sum(tokens_in) as tokens_in,
      sum(tokens_out) as tokens_out, sum(total_spend_usd) as cost_usd, sum(saved_usd) as saved_usd
    from customer_spend where date >= ${day(fromMs)} and date < ${day(toMs)} ${ofProject} group by 1, 2`;
  return sql`(with customers as materialized (${customers})
    select date::timestamp at time zone 'UTC' as bucket, ${projectId ?? null}::uuid as project_id, customer_id,
      requests, tokens_in, tokens_out, cost_usd, saved_usd, '' as status, 'miss' as cache, 0 as failovers,
      0 as tokens_cache_read, 0 as tokens_cache_write, 0 as tokens_reasoning
    from (
      select * from customers union all
      select date, '', -sum(requests), -sum(tokens_in), -sum(tokens_out), -sum(cost_usd), -sum(saved_usd)
      from customers group by date union all
      select ${intervalMs === undefined ? day(fromMs) : sql`(bucket at time zone 'UTC')::date`}, '', requests, tokens_in,
        tokens_out, cost_usd, saved_usd
      from rollup_day where bucket >= to_timestamp(${fromMs}::bigint / 1000.0)
        and bucket < to_timestamp(${toMs}::bigint / 1000.0) ${ofProject}
    ) as parts) as customer_spend`;
}

function startOf(segment: StatsSegment, intervalMs: number | undefined): SQL {
  if (intervalMs === undefined) return sql`0::bigint`;
  const step = sql.raw(String(Math.trunc(intervalMs)));
  // date_part counts in doubles, exact to the millisecond; extract would in numerics, many times slower.
  return sql`((date_part('epoch', ${timeOf(segment)}) * 1000)::bigint / ${step}) * ${step}`;
}

function within(segment: StatsSegment, scope: StatsScope): SQL {
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
  ];
  return sql.join(
    conditions.filter((condition) => condition !== undefined),
    sql` and `,
  );
}

const SUMMED = sql.raw(
  [
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
  ]
    .map((name) => `sum(${name}) as ${name}`)
    .join(', '),
);
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
    return sql`select ${startOf(segment, scope.intervalMs)} as start_ms, ${groupOf(segment, scope)} as grp, ${counts}
      from ${tableOf(segment, scope)} where ${within(segment, scope)}`;
  });
  return sql`select start_ms, grp, ${SUMMED} from (${sql.join(parts, sql` union all `)}) as parts
    group by start_ms, grp having sum(requests) <> 0 order by start_ms, grp`;
}

const rowBins = (names: readonly MetricName[]) => sql.raw(names.map((name) => `('${name}', ${name}_ms)`).join(', '));
const rollupBins = (names: readonly MetricName[]) =>
  sql.raw(names.map((name) => `select '${name}' as metric, unnest(${name}_histogram) as element`).join(' union all '));

const COARSE: Readonly<Partial<Record<StatsSegment['source'], StatsSegment['source']>>> = {
  rollup_hour: 'rollup_latency_hour',
  rollup_quarter: 'rollup_latency_quarter',
  rollup_day: 'rollup_latency_day',
};

/** Where neither keys nor statuses matter, durations of hours and days are read from their own, far smaller roll-ups. */
export function withCoarseDurations(segments: readonly StatsSegment[], scope: StatsScope): readonly StatsSegment[] {
  const { apiKeyId, status, groupBy } = scope;
  if (apiKeyId !== undefined || status !== undefined) return segments;
  if (groupBy !== undefined && !['project', 'model', 'provider'].includes(groupBy)) return segments;
  return segments.map((segment) => ({ ...segment, source: COARSE[segment.source] ?? segment.source }));
}

/** One row for each bucket, group, metric and histogram bin. */
export function binsQuery(segments: readonly StatsSegment[], scope: StatsScope): SQL {
  const names = scope.metrics ?? METRIC_NAMES;
  const histograms = sql.raw(names.map((name) => `${name}_histogram`).join(', '));
  const parts = segments.map((segment) => {
    const head = sql`${startOf(segment, scope.intervalMs)} as start_ms, ${groupOf(segment, scope)} as grp, m.metric`;
    if (segment.source === 'rows') {
      return sql`select ${head}, llm0_histogram_bin((llm0_histogram_of(m.ms))[1]) as bin, 1::bigint as n
        from ${tableOf(segment, scope)}, lateral (values ${rowBins(names)}) as m(metric, ms)
        where m.ms is not null and ${within(segment, scope)}`;
    }
    // Offset 0: start and group are worked out once a row, not once an element of its histograms.
    return sql`select r.start_ms, r.grp, m.metric, llm0_histogram_bin(m.element) as bin, llm0_histogram_count(m.element) as n
      from (select ${startOf(segment, scope.intervalMs)} as start_ms, ${groupOf(segment, scope)} as grp, ${histograms}
        from ${tableOf(segment, scope)} where ${within(segment, scope)} offset 0) as r, lateral (${rollupBins(names)}) as m`;
  });
  return sql`select start_ms, grp, metric, bin, sum(n) as n from (${sql.join(parts, sql` union all `)}) as parts
    group by start_ms, grp, metric, bin`;
}

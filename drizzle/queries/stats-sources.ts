import { type SQL, sql } from 'drizzle-orm';
import type { GroupBy } from './stats';
import type { StatsSegment } from './stats-range';

export const METRIC_NAMES = ['latency', 'ttft', 'overhead', 'upstream'] as const;
export type MetricName = (typeof METRIC_NAMES)[number];

export interface StatsScope {
  readonly projectId?: string;
  /** Absent = one total, with start 0. */
  readonly intervalMs?: number;
  readonly groupBy?: GroupBy;
}

/** Group → expression over `gateway_logs` and over the roll-ups; customers and labels are in rows only. */
const ROW_GROUPS: Readonly<Record<string, SQL>> = {
  project: sql`project_id::text`,
  key: sql`api_key_id::text`,
  model: sql`model`,
  provider: sql`coalesce(final_provider, provider, '')`,
  customer: sql`coalesce(customer_id, '')`,
  status: sql`status`,
};
const ROLLUP_GROUPS: Readonly<Record<string, SQL>> = {
  project: sql`project_id::text`,
  key: sql`api_key_id::text`,
  model: sql`model`,
  provider: sql`provider`,
  status: sql`status`,
};

function groupOf(segment: StatsSegment, groupBy: GroupBy | undefined): SQL {
  if (groupBy === undefined) return sql`null::text`;
  if (groupBy.startsWith('label.')) return sql`coalesce(labels ->> ${groupBy.slice('label.'.length)}, '')`;
  const group = (segment.source === 'rows' ? ROW_GROUPS : ROLLUP_GROUPS)[groupBy];
  if (group === undefined) throw new RangeError(`roll-ups have no ${groupBy}`);
  return group;
}

const timeOf = (segment: StatsSegment) => sql.identifier(segment.source === 'rows' ? 'created_at' : 'bucket');
const tableOf = (segment: StatsSegment) => sql.identifier(segment.source === 'rows' ? 'gateway_logs' : segment.source);

function startOf(segment: StatsSegment, intervalMs: number | undefined): SQL {
  if (intervalMs === undefined) return sql`0::bigint`;
  const step = sql.raw(String(Math.trunc(intervalMs)));
  return sql`((extract(epoch from ${timeOf(segment)}) * 1000)::bigint / ${step}) * ${step}`;
}

function within(segment: StatsSegment, scope: StatsScope): SQL {
  const time = timeOf(segment);
  const project = scope.projectId === undefined ? sql`` : sql`and project_id = ${scope.projectId}::uuid`;
  return sql`${time} >= to_timestamp(${segment.fromMs}::bigint / 1000.0)
    and ${time} < to_timestamp(${segment.toMs}::bigint / 1000.0) ${project}`;
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
    return sql`select ${startOf(segment, scope.intervalMs)} as start_ms, ${groupOf(segment, scope.groupBy)} as grp, ${counts}
      from ${tableOf(segment)} where ${within(segment, scope)}`;
  });
  return sql`select start_ms, grp, ${SUMMED} from (${sql.join(parts, sql` union all `)}) as parts
    group by start_ms, grp order by start_ms, grp`;
}

const ROW_BINS = sql.raw(METRIC_NAMES.map((name) => `('${name}', ${name}_ms)`).join(', '));
const ROLLUP_BINS = sql.raw(
  METRIC_NAMES.map((name) => `select '${name}' as metric, unnest(${name}_histogram) as element`).join(' union all '),
);

/** One row for each bucket, group, metric and histogram bin. */
export function binsQuery(segments: readonly StatsSegment[], scope: StatsScope): SQL {
  const parts = segments.map((segment) => {
    const head = sql`${startOf(segment, scope.intervalMs)} as start_ms, ${groupOf(segment, scope.groupBy)} as grp, m.metric`;
    if (segment.source === 'rows') {
      return sql`select ${head}, llm0_histogram_bin((llm0_histogram_of(m.ms))[1]) as bin, 1::bigint as n
        from gateway_logs, lateral (values ${ROW_BINS}) as m(metric, ms)
        where m.ms is not null and ${within(segment, scope)}`;
    }
    return sql`select ${head}, llm0_histogram_bin(m.element) as bin, llm0_histogram_count(m.element) as n
      from ${tableOf(segment)}, lateral (${ROLLUP_BINS}) as m where ${within(segment, scope)}`;
  });
  return sql`select start_ms, grp, metric, bin, sum(n) as n from (${sql.join(parts, sql` union all `)}) as parts
    group by start_ms, grp, metric, bin`;
}

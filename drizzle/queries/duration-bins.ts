import { type SQL, sql } from 'drizzle-orm';
import { rankedPlaceOf, withinRanked } from './ranked-place';
import { OTHER_GROUPS } from './stats-customers';
import { type StatsSegment, splitMinutes } from './stats-range';
import {
  binOf,
  groupOf,
  METRIC_NAMES,
  type MetricName,
  nameOfKept,
  placeOf,
  type StatsScope,
  startOf,
  tableOf,
  within,
} from './stats-sources';

const COARSE: Readonly<Partial<Record<StatsSegment['source'], StatsSegment['source']>>> = {
  rollup_hour: 'rollup_latency_hour',
  rollup_quarter: 'rollup_latency_quarter',
  rollup_day: 'rollup_latency_day',
};

/** Where neither keys nor statuses matter, durations are read from their own, far smaller roll-ups: 15 minutes and coarser. */
function withCoarseDurations(segments: readonly StatsSegment[], scope: StatsScope): readonly StatsSegment[] {
  const { apiKeyId, status, groupBy } = scope;
  if (apiKeyId !== undefined || status !== undefined) return segments;
  if (groupBy !== undefined && !['project', 'model', 'provider'].includes(groupBy)) return segments;
  return segments.flatMap((segment) => {
    const coarse = COARSE[segment.source];
    return coarse === undefined ? splitMinutes(segment, scope.intervalMs) : [{ ...segment, source: coarse }];
  });
}

/**
 * Queries with one row for each bucket, group and metric, with its histogram as text: `bin:count bin:count …`. A bucket may
 * come from several. One value a row comes back instead of one a bin, which halves the time.
 */
export function binsQueries(segments: readonly StatsSegment[], scope: StatsScope): readonly SQL[] {
  const metrics = scope.metrics ?? METRIC_NAMES;
  const isRanked = ({ source }: StatsSegment) => source === 'rollup_durations';
  const ranked = segments.filter(isRanked);
  const rest = withCoarseDurations(
    segments.filter((segment) => !isRanked(segment)),
    scope,
  );
  return [
    ...(ranked.length === 0
      ? []
      : [
          sql.join(
            metrics.map((metric) => sql`(${rankedBinsOf(ranked, scope, metric)})`),
            sql` union all `,
          ),
        ]),
    ...(rest.length === 0
      ? []
      : [metrics.length > 1 ? binsTogether(rest, scope, metrics) : binsOf(rest, scope, metrics[0])]),
  ];
}

/** Nothing in front of a list's first column, a comma after the others. */
const listed = (by: SQL | undefined): SQL => (by === undefined ? sql`` : sql`${by}, `);
const grouped = (by: SQL | undefined): SQL => (by === undefined ? sql`having count(*) > 0` : sql`group by ${by}`);
const BINS = sql`string_agg(bin::text || ':' || n::text, ' ') as bins`;

function binsOf(segments: readonly StatsSegment[], scope: StatsScope, metric: MetricName = 'latency'): SQL {
  const { shown, by } = placeOf(scope);
  const parts = segments.map((segment) => elementsOf(segment, scope, metric));
  // Elements are bin × 2^40 + count: their sum less that many bins is the sum of the counts.
  return sql`select ${shown}, ${sql.raw(`'${metric}'`)} as metric, ${BINS}
    from (
      select ${listed(by)}bin, sum(e) - count(*) * (bin << 40) as n
      from (select start_ms, grp, e, ${sql.raw(binOf('e'))} as bin from (${sql.join(parts, sql` union all `)}) as parts) as bins
      group by ${listed(by)}bin
    ) as counts ${grouped(by)}`;
}

/** Rows are read once for all metrics, whose elements stand beside each other and are counted apart. */
function binsTogether(segments: readonly StatsSegment[], scope: StatsScope, metrics: readonly MetricName[]): SQL {
  const { shown, by } = placeOf(scope);
  const each = (text: (metric: MetricName) => string, between = ', ') => sql.raw(metrics.map(text).join(between));
  const parts = segments.map((segment) => allElementsOf(segment, scope, metrics));
  return sql`select ${shown}, metric, ${BINS}
    from (
      select ${listed(by)}case ${each((name) => `when grouping(${name}_bin) = 0 then '${name}'`, ' ')} end as metric,
        coalesce(${each((name) => `${name}_bin`)}) as bin,
        case ${each((name) => `when grouping(${name}_bin) = 0 then sum(${name}_n)`, ' ')} end as n
      from (
        select start_ms, grp, ${each((name) => `${name}_bin, (${name}_e - (${name}_bin << 40))::int as ${name}_n`)}
        from (select *, ${each((name) => `${binOf(`${name}_e`)} as ${name}_bin`)}
          from (${sql.join(parts, sql` union all `)}) as parts) as bins
      ) as counted
      group by ${listed(by)}grouping sets (${each((name) => `(${name}_bin)`)})
    ) as counts where bin is not null group by ${listed(by)}metric`;
}

function allElementsOf(segment: StatsSegment, scope: StatsScope, metrics: readonly MetricName[]): SQL {
  const each = (text: (metric: MetricName) => string) => sql.raw(metrics.map(text).join(', '));
  const { place, from } = sourceOf(segment, scope);
  if (segment.source === 'rows') {
    return sql`select ${place}, ${each((name) => `(llm0_histogram_of(${name}_ms))[1] as ${name}_e`)} ${from}`;
  }
  return sql`select start_ms, grp, ${each((name) => `unnest(${name}_histogram) as ${name}_e`)}
    from (select ${place}, ${each((name) => `${name}_histogram`)} ${from} offset 0) as r`;
}

function sourceOf(segment: StatsSegment, scope: StatsScope): { readonly place: SQL; readonly from: SQL } {
  return {
    place: sql`${startOf(segment, scope.intervalMs)} as start_ms, ${groupOf(segment, scope)} as grp`,
    from: sql`from ${tableOf(segment, scope)} where ${within(segment, scope)}`,
  };
}

/** The elements of all histograms of a metric; of a row, the one it would be. */
function elementsOf(segment: StatsSegment, scope: StatsScope, metric: MetricName): SQL {
  const { place, from } = sourceOf(segment, scope);
  if (segment.source === 'rows') {
    const ms = sql.raw(`${metric}_ms`);
    return sql`select ${place}, (llm0_histogram_of(${ms}))[1] as e ${from} and ${ms} is not null`;
  }
  // Offset 0: start and group are worked out once a row, not once an element of its histogram.
  return sql`select start_ms, grp, unnest(histogram) as e
    from (select ${place}, ${sql.raw(`${metric}_histogram`)} as histogram ${from} offset 0) as r`;
}

/** Places are numbered first: hundreds of thousands of elements are then grouped by a number instead of a key's name. */
function rankedBinsOf(segments: readonly StatsSegment[], scope: StatsScope, metric: MetricName): SQL {
  const parts = segments.map((segment) => rankedHistogramsOf(segment, scope, metric));
  return sql`with histograms as materialized (
      select dense_rank() over (order by start_ms, grp) as place, start_ms, grp, histogram
      from (${sql.join(parts, sql` union all `)}) as parts
    ), counts as (
      select place, bin, sum(e) - count(*) * (bin << 40) as n
      from (select place, e, ${sql.raw(binOf('e'))} as bin
        from (select place, unnest(histogram) as e from histograms) as elements) as bins
      group by place, bin
    )
    select start_ms, grp, ${sql.raw(`'${metric}'`)} as metric, bins
    from (select place, ${BINS} from counts group by place) as found
      join (select distinct place, start_ms, grp from histograms) as places using (place)`;
}

function rankedHistogramsOf(segment: StatsSegment, scope: StatsScope, metric: MetricName): SQL {
  const place = rankedPlaceOf(scope);
  if (place === undefined) throw new RangeError('ranked durations are not told apart like that');
  const { kept } = scope;
  const group = segment.onlyOthers === true ? sql`${OTHER_GROUPS}::text` : nameOfKept(place.group, kept);
  const rows = { segment, place, metrics: [metric], ...(segment.onlyOthers === true ? { kept } : {}) };
  return sql`select ${startOf(segment, scope.intervalMs)} as start_ms, ${group} as grp, histogram
    from rollup_durations where ${withinRanked(rows)}`;
}

// Percentiles of hours that are over, ranked by a job soon after their end: a day and a week of hours are read without their
// histograms, and the drain pays nothing. A row that comes late marks its hour, which is read from the roll-ups until then.
import { binValueMs } from '@llm0/core/logs/histogram';
import { eachInSlices } from '@llm0/core/logs/in-slices';
import { type SQL, sql } from 'drizzle-orm';
import type { Db } from '../client';
import { instant } from './instant';
import { CHANGES_OF_HOUR, makeHours } from './late-hours';
import { type RankedPlace, rankedPlaceOf } from './ranked-place';
import { ANY_PROJECT } from './rollup-deltas';
import type { Durations } from './stats-durations';
import type { StatsSegment } from './stats-range';
import { binOf, listOf, METRIC_NAMES, type MetricName, type StatsScope } from './stats-sources';
import { bucketKey } from './stats-totals';

const HOUR_MS = 3_600_000;
/** Bits of one percentile's bin. */
const BIN_BITS = 10;

/** Ranks the latest hours that are over and not ranked yet, or were changed since; returns their starts in epoch milliseconds. */
export const rankHours = (db: Db, nowMs: number, most: number): Promise<readonly number[]> =>
  makeHours(
    db,
    { made: 'rollup_durations_hour_made', table: 'rollup_durations_hour', insert: insertHour },
    { nowMs, most },
  );

/**
 * All dimensions at once: each row of the roll-up belongs to one place of each, by project and over all, and its histograms
 * are unpacked once. Then the bins where each rank lies (nearest rank), as for days.
 */
function insertHour(startMs: number): SQL {
  const unnested = METRIC_NAMES.map((name, index) => `select ${index} as metric, unnest(${name}_histogram) as e`);
  const rank = (share: number) => `min(bin) filter (where seen >= greatest(1, ceil(${share}::float8 * total)))`;
  const ofMetric = METRIC_NAMES.map((name, index) => `max(ranks) filter (where metric = ${index}) as ${name}`);
  const columns = sql.raw(METRIC_NAMES.join(', '));
  return sql`
    with sources as materialized (
      select *, row_number() over () as source from rollup_hour where bucket = ${instant(startMs)}
    ), members as materialized (
      select source, dense_rank() over (order by dimension, project, name) as place, dimension, project, name
      from sources, lateral (values (project_id), (${ANY_PROJECT}::uuid)) as p(project), lateral (
        values ('all', ''), ('key', api_key_id::text), ('model', model), ('provider', provider), ('status', status)
      ) as d(dimension, name)
    ), elements as materialized (
      select source, metric, ${sql.raw(binOf('e'))} as bin, e
      from sources, lateral (${sql.raw(unnested.join(' union all '))}) as unnested
    ), counts as (
      select place, metric, bin, sum((e - (bin << 40))::int) as n
      from elements join members using (source) group by place, metric, bin
    ), seen as (
      select place, metric, bin, sum(n::float8) over (partition by place, metric order by bin) as seen,
        sum(n::float8) over (partition by place, metric) as total
      from counts where n <> 0
    ), ranked as (
      select place, metric, ${sql.raw([0.5, 0.95, 0.99].map((share, index) => `((${rank(share)})::int << ${index * BIN_BITS})`).join(' | '))} as ranks
      from seen where total > 0 group by place, metric
    )
    insert into rollup_durations_hour (bucket, dimension, project_id, name, ${columns})
    select ${instant(startMs)}, dimension, project, name, ${columns}
    from (select place, ${sql.raw(ofMetric.join(', '))} from ranked group by place) as found
      join (select distinct place, dimension, project, name from members) as places using (place) order by 2, 3, 4`;
}

/** Hours whose percentiles are read as they were ranked, and what is left of the segments. */
export interface HoursPlan {
  readonly place: RankedPlace;
  /** Their starts. */
  readonly hours: readonly number[];
  readonly rest: readonly StatsSegment[];
}

/** Undefined where nothing of it is ranked by hours, or other buckets are wanted. */
export async function planHours(
  db: Db,
  segments: readonly StatsSegment[],
  scope: StatsScope,
): Promise<HoursPlan | undefined> {
  const place = rankedPlaceOf(scope);
  if (place === undefined || scope.intervalMs !== HOUR_MS) return undefined;
  const hours: number[] = [];
  const rest: StatsSegment[] = [];
  for (const segment of segments) {
    const found = segment.source === 'rollup_hour' ? await loadHours(db, segment) : [];
    for (const { startMs, isRanked } of found) if (isRanked) hours.push(startMs);
    rest.push(...withoutRanked(segment, found));
  }
  return hours.length === 0 ? undefined : { place, hours, rest };
}

interface Hour {
  readonly startMs: number;
  readonly isRanked: boolean;
}

/** Hours from the first on that was ranked, oldest first; those that nothing came to are missing. */
async function loadHours(db: Db, { fromMs, toMs }: StatsSegment): Promise<readonly Hour[]> {
  const rows = await db.execute<{ start_ms: string; is_ranked: boolean }>(sql`
    with made as materialized (
      select bucket, made_at_changes = ${CHANGES_OF_HOUR} as stands from rollup_durations_hour_made as h
      where bucket >= ${instant(fromMs)} and bucket < ${instant(toMs)}
    )
    select (date_part('epoch', bucket) * 1000)::bigint as start_ms, coalesce(stands, false) as is_ranked
    from generate_series((select min(bucket) from made), ${instant(toMs - HOUR_MS)}, interval '1 hour') as hours(bucket)
      left join made using (bucket)
    where stands or (select true from rollup_hour as r where r.bucket = hours.bucket limit 1)
    order by 1`);
  return rows.map(({ start_ms, is_ranked }) => ({ startMs: Number(start_ms), isRanked: is_ranked }));
}

/** A segment up to the first of the hours, and the stretches of those that are not ranked. */
function withoutRanked(segment: StatsSegment, hours: readonly Hour[]): readonly StatsSegment[] {
  const stretches: StatsSegment[] = [];
  let isOpen = false;
  for (const { startMs, isRanked } of hours) {
    const last = stretches.at(-1);
    if (!isRanked) {
      if (isOpen && last !== undefined) stretches[stretches.length - 1] = { ...last, toMs: startMs + HOUR_MS };
      else stretches.push({ ...segment, fromMs: startMs, toMs: startMs + HOUR_MS });
    }
    isOpen = !isRanked;
  }
  const [first] = hours;
  if (first === undefined) return [segment];
  return segment.fromMs < first.startMs ? [{ ...segment, toMs: first.startMs }, ...stretches] : stretches;
}

/** What the groups that lose their name have in ranked hours has to be added up: it is not ranked together. */
export function othersOfHours({ hours }: HoursPlan, { kept }: StatsScope): readonly StatsSegment[] {
  const stretches: StatsSegment[] = [];
  for (const fromMs of kept === undefined ? [] : hours) {
    const last = stretches.at(-1);
    const toMs = fromMs + HOUR_MS;
    if (last?.toMs === fromMs) stretches[stretches.length - 1] = { ...last, toMs };
    else stretches.push({ source: 'rollup_hour', fromMs, toMs, onlyOthers: true });
  }
  return stretches;
}

type HourRow = { start_ms: string; grp: string | null } & Partial<Record<MetricName, number | null>>;

/** Adds the hours' percentiles to what was found, by `bucketKey`. */
export async function readHours(
  db: Db,
  { place, hours }: HoursPlan,
  { metrics = METRIC_NAMES, kept }: StatsScope,
  found: Map<string, Durations>,
): Promise<void> {
  const dimension = sql`dimension = ${place.dimension}`;
  const conditions = [
    dimension,
    ...place.conditions,
    ...(kept === undefined ? [] : [sql`${place.group} in ${listOf(kept)}`]),
  ];
  // Offset 0 has each hour looked up by the index.
  const rows = await db.execute<HourRow>(sql`
    select start_ms, found.*
    from jsonb_array_elements_text(${JSON.stringify(hours)}::jsonb) as hours(start_ms), lateral (
      select ${place.group} as grp, ${sql.raw(metrics.join(', '))} from rollup_durations_hour
      where bucket = to_timestamp(start_ms::bigint / 1000.0) and ${sql.join(conditions, sql` and `)} offset 0
    ) as found`);
  await eachInSlices(rows, (row) => {
    const of = (name: MetricName) => percentilesOf(row[name] ?? null);
    found.set(bucketKey(Number(row.start_ms), row.grp), {
      ...{ latency: of('latency'), ttft: of('ttft'), overhead: of('overhead'), upstream: of('upstream') },
    });
  });
}

function percentilesOf(ranks: number | null) {
  if (ranks === null) return { p50: null, p95: null, p99: null };
  const of = (index: number) => binValueMs((ranks >> (index * BIN_BITS)) & (2 ** BIN_BITS - 1));
  return { p50: of(0), p95: of(1), p99: of(2) };
}

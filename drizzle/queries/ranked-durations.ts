// Percentiles of days that are over, ranked by a job: the drain of rows pays nothing for them. A row that comes late marks
// its day, which is read from the finer roll-ups until the job has been over it again.
import { type SQL, sql } from 'drizzle-orm';
import type { Db } from '../client';
import { instant } from './instant';
import { CLOSED_AFTER_MS } from './late-days';
import { ANY_PROJECT, utcDay } from './rollup-deltas';
import { binOf, METRIC_NAMES } from './stats-sources';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Hours are kept 90 days, and read an hour less: of older days only the whole is ranked. */
const HOURS_WHOLE_MS = 90 * DAY_MS - HOUR_MS / 2;

export interface RankedStep {
  readonly hours: number;
  /** The roll-up it is made from. */
  readonly source: 'rollup_hour' | 'rollup_quarter' | 'rollup_day';
  /** Hours are too many to keep them all twice, or to tell more apart than projects. */
  readonly isRankOnly?: boolean;
}

/** Coarse to fine: what charts over weeks are drawn in. */
export const RANKED_STEPS: readonly RankedStep[] = [
  { hours: 24, source: 'rollup_day' },
  { hours: 12, source: 'rollup_quarter' },
  { hours: 3, source: 'rollup_hour' },
  { hours: 1, source: 'rollup_hour', isRankOnly: true },
];

/** What rows are told apart by beside projects, by its column. */
const DIMENSIONS = { all: "''", key: 'api_key_id::text', model: 'model', provider: 'provider', status: 'status' };
type Dimension = keyof typeof DIMENSIONS;
const DIMENSION_NAMES = Object.keys(DIMENSIONS) as Dimension[];

const oneOf = (names: readonly (string | number)[]) => sql.raw(names.map((name) => `'${name}'`).join(', '));
const OF_ANY_METRIC = sql`metric in (${oneOf(METRIC_NAMES)})`;
/** All but whole days. All parts of the key are named, so that its index is used. */
export const FINER_THAN_DAYS = sql`step_hours in (${oneOf(RANKED_STEPS.map(({ hours }) => hours).filter((hours) => hours < 24))})
  and dimension in (${oneOf(DIMENSION_NAMES)}) and ${OF_ANY_METRIC}`;

/** Days (their start, UTC) whose percentiles are ranked and up to date. */
export async function loadRankedDays(db: Db, fromMs: number, toMs: number): Promise<ReadonlySet<number>> {
  const rows = await db.execute<{ day: string }>(sql`
    select day::text as day from rollup_durations_day
    where made_at_changes = changes and day >= ${utcDay(fromMs)}::date and day < ${utcDay(toMs)}::date`);
  return new Set(rows.map(({ day }) => Date.parse(day)));
}

/** Ranks the latest days that are over and not ranked yet, or were changed since; returns them (`YYYY-MM-DD`). */
export async function rankDays(db: Db, nowMs: number, most: number): Promise<readonly string[]> {
  const days = await db.execute<{ day: string; changes: string }>(sql`
    with recursive days as (
      select max(bucket) as bucket from rollup_day where bucket <= ${instant(nowMs - CLOSED_AFTER_MS - DAY_MS)}
      union all select (select max(bucket) from rollup_day where bucket < days.bucket) from days where bucket is not null
    )
    select (bucket at time zone 'UTC')::date::text as day, coalesce(changes, 0)::text as changes
    from days left join rollup_durations_day on day = (bucket at time zone 'UTC')::date
    where bucket is not null and made_at_changes is distinct from coalesce(changes, 0)
    order by 1 desc limit ${most}`);
  for (const { day, changes } of days) await rankDay(db, { startMs: Date.parse(day), changes, nowMs });
  return days.map(({ day }) => day);
}

interface DayToRank {
  readonly startMs: number;
  /** Read before the day itself: what comes in between is seen by the number having grown. */
  readonly changes: string;
  readonly nowMs: number;
}

/** Piece by piece, as the embedded database has one connection for everything; nobody reads them before they are all there. */
async function rankDay(db: Db, { startMs, changes, nowMs }: DayToRank): Promise<void> {
  const isWhole = startMs >= nowMs - HOURS_WHOLE_MS;
  const pieces = RANKED_STEPS.flatMap((step) => DIMENSION_NAMES.map((dimension) => ({ step, dimension, startMs })));
  for (const piece of pieces) {
    const { source, isRankOnly } = piece.step;
    const isWanted = (isWhole || source === 'rollup_day') && (isRankOnly !== true || piece.dimension === 'all');
    await db.transaction(async (tx) => {
      await tx.execute(sql`select set_config('work_mem', '128MB', true), set_config('jit', 'off', true)`);
      await tx.execute(deletePiece(piece));
      if (isWanted) await tx.execute(insertPiece(piece));
    });
  }
  await db.execute(sql`
    insert into rollup_durations_day (day, changes, made_at_changes)
    values (${utcDay(startMs)}::date, ${changes}::bigint, ${changes}::bigint)
    on conflict (day) do update set made_at_changes = excluded.made_at_changes`);
}

interface Piece {
  readonly step: RankedStep;
  readonly dimension: Dimension;
  readonly startMs: number;
}

const deletePiece = ({ step, dimension, startMs }: Piece) => sql`
  delete from rollup_durations where step_hours = ${step.hours}::smallint and dimension = ${dimension} and ${OF_ANY_METRIC}
    and bucket >= ${instant(startMs)} and bucket < ${instant(startMs + DAY_MS)}`;

/**
 * Adds up the day's histograms by project and over all, and finds the bins where each rank lies (nearest rank). Places are
 * numbered first: millions of elements are then grouped by two numbers instead of six columns.
 */
function insertPiece({ step: { hours, source, isRankOnly = false }, dimension, startMs }: Piece): SQL {
  const histograms = METRIC_NAMES.map((name) => `${name}_histogram`).join(', ');
  const metrics = METRIC_NAMES.map((name, index) => `when ${index} then '${name}'`).join(' ');
  const unnested = METRIC_NAMES.map((name, index) => `select ${index} as metric, unnest(${name}_histogram) as e`);
  const rank = (share: number) => `min(bin) filter (where seen >= greatest(1, ceil(${share}::float8 * total)))`;
  return sql`
    with sources as materialized (
      select date_bin(${sql.raw(`'${hours} hours'`)}, bucket, '2000-01-01 00:00:00+00') as bucket, project,
        ${sql.raw(DIMENSIONS[dimension])} as name, ${sql.raw(histograms)}
      from ${sql.raw(source)}, lateral (values (project_id), (${ANY_PROJECT}::uuid)) as p(project)
      where bucket >= ${instant(startMs)} and bucket < ${instant(startMs + DAY_MS)}
    ), places as materialized (
      select *, row_number() over () as place from (select distinct bucket, project, name from sources) as d
    ), elements as (
      select place * 4 + metric as place, ${sql.raw(binOf('e'))} as bin, e
      from sources join places using (bucket, project, name),
        lateral (${sql.raw(unnested.join(' union all '))}) as unnested
    ), counts as (
      select place, bin, sum((e - (bin << 40))::int) as n from elements group by place, bin
    ), ranked as (
      select place, bin, n, sum(n::float8) over (partition by place order by bin) as seen,
        sum(n::float8) over (partition by place) as total
      from counts where n <> 0
    ), found as (
      select place, ${sql.raw(`${rank(0.5)} as p50, ${rank(0.95)} as p95, ${rank(0.99)} as p99`)},
        ${isRankOnly ? sql`null::bigint[]` : sql`array_agg((bin << 40) + n order by bin)`} as histogram
      from ranked where total > 0 group by place
    )
    insert into rollup_durations (step_hours, dimension, metric, project_id, bucket, name, p50, p95, p99, histogram)
    select ${hours}::smallint, ${dimension}, case found.place % 4 ${sql.raw(metrics)} end, project, bucket, name,
      p50, p95, p99, histogram
    from found join places on places.place = found.place / 4`;
}

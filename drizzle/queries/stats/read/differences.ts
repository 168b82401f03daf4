import { type SQL, sql } from 'drizzle-orm';
import type { Db } from '../../../client';
import { asTable } from '../../clickhouse/as-table';
import { withEngine } from '../../clickhouse/log-engine';
import { askCells, divideWindows } from '../../clickhouse/sampled-rows';
import type { MetricName } from './questions';
import type { Stretch } from './read-days';
import { inWindow, type SampleQuery, type SampleWindow, sampleRows, windowsTable } from './sample-rows';
import { CACHE_OF_ROW, PROVIDER_OF_ROW } from './segment-sql';
import { type Ask, askInTime } from './time-limit';

/** Fields in which requests may differ. */
export const DIFFERENCE_FIELDS = ['model', 'provider', 'key', 'cache', 'stream', 'size'] as const;
export type DifferenceField = (typeof DIFFERENCE_FIELDS)[number];

/** Part of a heat map: a stretch of time and bounds of a duration, inclusive. */
export interface Region {
  readonly fromMs: number;
  /** Exclusive. */
  readonly toMs: number;
  readonly minMs: number;
  readonly maxMs: number;
}

export interface DifferenceQuery extends SampleQuery {
  readonly metric: MetricName;
  readonly region: Region;
}

/** A value's share (0…1) of the requests in the region and of the others; null without any. */
export interface Difference {
  readonly field: DifferenceField;
  /** `size`: the least tokens, in and out, of its power of ten. */
  readonly value: string;
  readonly insideShare: number | null;
  readonly outsideShare: number | null;
}

export interface Differences {
  /** Rows that were read. */
  readonly inside: number;
  readonly outside: number;
  readonly isSampled: boolean;
  /** Largest first. */
  readonly differences: readonly Difference[];
}

/** Values of a field that are told. */
const MOST_VALUES = 8;
/** Index of the part of the time with the region. */
const REGION_PART = 0;

/** Tells the requests of a region from the others of the range that have this duration. */
export async function loadDifferences(db: Db, query: DifferenceQuery): Promise<Differences> {
  const { fromMs, toMs, region } = query;
  const startMs = Math.min(toMs, Math.max(fromMs, region.fromMs));
  const endMs = Math.max(startMs, Math.min(toMs, region.toMs));
  const parts = [
    [{ fromMs: startMs, toMs: endMs }],
    [
      { fromMs, toMs: startMs },
      { fromMs: endMs, toMs },
    ],
  ];
  return withEngine(db, query, (elsewhere) => askInTime(db, (ask) => askAll(ask, { ...query, elsewhere }, parts)));
}

async function askAll(ask: Ask, query: DifferenceQuery, parts: readonly (readonly Stretch[])[]): Promise<Differences> {
  const { elsewhere, projectId, metric, region } = query;
  const sample = await sampleRows(ask, query, parts);
  const { older, here } = divideWindows(sample.windows, elsewhere);
  const cells = await askCells({ ask: elsewhere?.ask, windows: older, projectId }, { metric, ...region });
  const rows = await ask<DifferenceRow>(differencesQuery(query, here, cells));
  return {
    inside: Number(rows[0]?.all_inside ?? 0),
    outside: Number(rows[0]?.all_outside ?? 0),
    isSampled: sample.isSampled,
    differences: rows.map(({ field, value, inside_share: inside, outside_share: outside }) => ({
      ...{ field, value, insideShare: toNumber(inside), outsideShare: toNumber(outside) },
    })),
  };
}

const toNumber = (value: string | number | null) => (value === null ? null : Number(value));

type DifferenceRow = {
  readonly field: DifferenceField;
  readonly value: string;
  readonly inside_share: string | number | null;
  readonly outside_share: string | number | null;
  readonly all_inside: string | number | null;
  readonly all_outside: string | number | null;
};

/** Digits of its tokens, in and out. */
const DIGITS_OF_ROW = sql.raw(
  `width_bucket(tokens_total, array[${Array.from({ length: 10 }, (_, power) => 10 ** power).join(', ')}]::bigint[])`,
);
/** Values of a cell as texts. */
const VALUES = {
  ...{ model: 'model', provider: 'provider', key: 'api_key_id::text', cache: 'cache', stream: 'stream::text' },
  size: `case when digits = 0 then '0' else '1' || repeat('0', digits - 1) end`,
} as const satisfies Record<DifferenceField, string>;
const NAMED = sql.raw(DIFFERENCE_FIELDS.map((field) => `('${field}', ${VALUES[field]})`).join(', '));

const CELL =
  'part int, is_within boolean, model text, provider text, api_key_id uuid, ' +
  'cache text, stream boolean, digits int, n float8, weight float8';

/** Rows are grouped once by all fields; what remains is few. */
function differencesQuery(query: DifferenceQuery, windows: readonly SampleWindow[], older: readonly object[]): SQL {
  const { minMs, maxMs } = query.region;
  const ms = sql.raw(`${query.metric}_ms`);
  return sql`
    with cells as materialized (
      select w.part = ${REGION_PART}::int and ms >= ${minMs}::float8 and ms <= ${maxMs}::float8 as inside,
        model, provider, api_key_id, cache, stream, digits, count(*)::float8 as n, sum(w.weight) as weight
      from ${windowsTable(windows)}, lateral (
        select ${ms} as ms, model, ${PROVIDER_OF_ROW} as provider, api_key_id, ${CACHE_OF_ROW} as cache, stream,
          ${DIGITS_OF_ROW} as digits
        from gateway_logs where ${inWindow(query)} and ${ms} is not null offset 0
      ) as found
      group by 1, 2, 3, 4, 5, 6, 7
      union all select part = ${REGION_PART}::int and is_within, model, provider, api_key_id, cache, stream, digits, n, n * weight
      from ${asTable(older, CELL)}
    ), sums as (
      select field, value, coalesce(sum(n) filter (where inside), 0) as inside_rows,
        coalesce(sum(n) filter (where not inside), 0) as outside_rows,
        coalesce(sum(weight) filter (where inside), 0) as inside, coalesce(sum(weight) filter (where not inside), 0) as outside
      from cells, lateral (values ${NAMED}) as named(field, value) group by 1, 2
    ), shares as (
      select field, value, sum(inside_rows) over whole as all_inside, sum(outside_rows) over whole as all_outside,
        inside / nullif(sum(inside) over whole, 0) as inside_share,
        outside / nullif(sum(outside) over whole, 0) as outside_share
      from sums window whole as (partition by field)
    ), ranked as (
      select *, abs(coalesce(inside_share, 0) - coalesce(outside_share, 0)) as difference from shares
    )
    select field, value, all_inside, all_outside, inside_share, outside_share from (
      select *, row_number() over (partition by field order by difference desc, value) as place from ranked
    ) as placed
    where place <= ${MOST_VALUES} order by difference desc, field, value`;
}

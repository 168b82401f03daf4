import type { LatencyBucket, Metric } from '../../api/stats';
import { countOf } from '../../format/format-number';
import type { TimeZoneChoice } from '../../format/format-time';
import type { RequestsFilter } from '../../range/use-show-requests';
import { coveringOf, splitFew } from '../prepare-scale';
import { MEANING } from '../series-colors';
import { describeTime } from '../strip/prepare-strip';
import { type Bin, fillBins, type GivenBin, shareOf } from './prepare-bins';
import { describeBounds } from './prepare-distribution';

/** Requests by time and duration. */
export interface HeatMap {
  /** Starts of the columns. */
  readonly times: readonly number[];
  readonly intervalMs: number;
  /** Rows, the shortest durations first. */
  readonly bins: readonly Bin[];
  /** Counts of each column, by row. */
  readonly columns: readonly (readonly number[])[];
  /** Largest count. */
  readonly most: number;
}

interface Given {
  readonly bins: readonly GivenBin[];
  readonly buckets: readonly { readonly start: string; readonly requests: readonly number[] }[];
}

export function prepareHeatMap({ bins: given, buckets }: Given, times: readonly number[], intervalMs: number): HeatMap {
  const bins = fillBins(given);
  const byStart = new Map(buckets.map(({ start, requests }) => [Date.parse(start), requests]));
  const columns = times.map((time) => {
    const counts = byStart.get(time);
    return bins.map(({ index }) => (index === null ? 0 : (counts?.[index] ?? 0)));
  });
  const most = columns.reduce((most, counts) => Math.max(most, ...counts), 0);
  return { times, intervalMs, bins, columns, most };
}

/** Column and row. */
export interface Cell {
  readonly column: number;
  readonly row: number;
}

/** Cells between two corners, both inclusive. */
export interface Cells {
  readonly first: Cell;
  readonly last: Cell;
}

export const cellsBetween = (one: Cell, other: Cell): Cells => ({
  first: { column: Math.min(one.column, other.column), row: Math.min(one.row, other.row) },
  last: { column: Math.max(one.column, other.column), row: Math.max(one.row, other.row) },
});

/** A stretch of time and bounds of a duration, as the API takes them. */
export interface Region {
  readonly fromMs: number;
  /** Exclusive. */
  readonly toMs: number;
  readonly minMs: number;
  readonly maxMs: number;
}

export function regionOf({ times, intervalMs, bins }: HeatMap, { first, last }: Cells): Region {
  const fromMs = times[first.column] ?? 0;
  const toMs = (times[last.column] ?? fromMs) + intervalMs;
  return { fromMs, toMs, minMs: bins[first.row]?.fromMs ?? 0, maxMs: bins[last.row]?.toMs ?? 0 };
}

/** Part (0…1 of the width and height, from the bottom left) that a region takes; null where it is not shown. */
export function placeOf({ times, intervalMs, bins }: HeatMap, region: Region) {
  const startMs = times[0] ?? 0;
  const lengthMs = times.length * intervalMs;
  const clamp = (share: number) => Math.min(1, Math.max(0, share));
  const [left, right] = [region.fromMs, region.toMs].map((ms) => clamp((ms - startMs) / lengthMs)) as [number, number];
  const [bottom, top] = [region.minMs, region.maxMs].map((ms) => shareOf(bins, ms)) as [number, number];
  return right <= left || top <= bottom ? null : { left, bottom, width: right - left, height: top - bottom };
}

/** The cell at shares (0…1) of the width and of the height from the top, within the ends. */
export function cellAt({ times, bins }: HeatMap, x: number, y: number): Cell {
  const within = (share: number, count: number) => Math.max(0, Math.min(count - 1, Math.floor(share * count)));
  return { column: within(x, times.length), row: bins.length - 1 - within(y, bins.length) };
}

/** The newest column, and its row with the most requests. */
export function firstCell({ times, columns }: HeatMap): Cell {
  const column = Math.max(0, times.length - 1);
  const counts = columns[column] ?? [];
  return { column, row: Math.max(0, counts.indexOf(Math.max(0, ...counts))) };
}

const STEPS: Readonly<Record<string, Cell>> = {
  ArrowLeft: { column: -1, row: 0 },
  ArrowRight: { column: 1, row: 0 },
  ArrowUp: { column: 0, row: 1 },
  ArrowDown: { column: 0, row: -1 },
  PageUp: { column: 0, row: 5 },
  PageDown: { column: 0, row: -5 },
  Home: { column: -Infinity, row: 0 },
  End: { column: Infinity, row: 0 },
};

/** The next cell for a key; null for other keys. */
export function moveCell({ times, bins }: HeatMap, { column, row }: Cell, key: string): Cell | null {
  const step = STEPS[key];
  if (step === undefined) return null;
  const within = (index: number, count: number) => Math.max(0, Math.min(count - 1, index));
  return { column: within(column + step.column, times.length), row: within(row + step.row, bins.length) };
}

/** Shades from few to many requests, 1 … SHADES; 0 is none. */
export const SHADES = 5;

/** Shades grow with the logarithm: single slow requests stay visible beside thousands. */
export function shadeOf(count: number, most: number): number {
  if (count <= 0) return 0;
  return most <= 1 ? SHADES : 1 + Math.round(((SHADES - 1) * Math.log(count)) / Math.log(most));
}

/** All cells of one shade, as an SVG path over columns and rows. */
export function cellsPath({ columns, bins, most }: HeatMap, shade: number): string {
  return columns
    .flatMap((counts, column) =>
      counts.map((count, row) => (shadeOf(count, most) === shade ? `M${column} ${bins.length - 1 - row}h1v1h-1z` : '')),
    )
    .join('');
}

export const PERCENTILES = ['p50', 'p95', 'p99'] as const;
export type Percentile = (typeof PERCENTILES)[number];

/** A percentile as SVG paths over columns and rows. */
export interface HeatLine {
  readonly name: Percentile;
  readonly color: string;
  readonly path: string;
  /** Values of few requests, each by itself: one slow request is no cliff. By the number of dashes that lie on them. */
  readonly dashes: readonly string[];
}

export interface Percentiles {
  readonly requests: number | null;
  readonly values: Readonly<Record<Percentile, number | null>>;
}

const NOTHING = { requests: null, values: { p50: null, p95: null, p99: null } };

/** Percentiles of each column. */
export function percentilesOf({ times }: HeatMap, buckets: readonly LatencyBucket[], metric: Metric): Percentiles[] {
  const byStart = new Map(buckets.map((bucket) => [Date.parse(bucket.start), bucket]));
  return times.map((time) => {
    const bucket = byStart.get(time);
    return bucket === undefined ? NOTHING : { requests: bucket.requests, values: bucket[`${metric}_ms`] };
  });
}

export function prepareLines({ bins }: HeatMap, columns: readonly Percentiles[]): readonly HeatLine[] {
  const counts = columns.map(({ requests }) => requests);
  const heightOf = (ms: number) => round(bins.length * (1 - shareOf(bins, ms)));
  const at = (ms: number, column: number) => `${column + 0.5} ${heightOf(ms)}`;
  // Within its column: a dot would cover the cells beside it.
  const dashAt = (ms: number, column: number) => `M${column} ${heightOf(ms)}h1`;
  const split = PERCENTILES.map((name) =>
    splitFew(
      columns.map(({ values }) => values[name]),
      counts,
    ),
  );
  const placesAt = (column: number) =>
    split.map(({ dots }) => {
      const ms = dots[column] ?? null;
      return ms === null ? null : bins.length * shareOf(bins, ms);
    });
  return PERCENTILES.map((name, index) => {
    const { line = [], dots = [] } = split[index] ?? {};
    const parts = line.map((ms, column) => {
      if (ms === null) return '';
      const before = line[column - 1] ?? null;
      const after = line[column + 1] ?? null;
      // Between two gaps there is no line to be seen.
      return `${before === null ? 'M' : 'L'}${at(ms, column)}${before === null && after === null ? 'h0' : ''}`;
    });
    return {
      name,
      color: MEANING[name],
      path: parts.join(''),
      dashes: PERCENTILES.map((_, rims) =>
        dots
          .map((ms, column) =>
            ms === null || coveringOf(placesAt(column), index, NEAR_BINS) !== rims ? '' : dashAt(ms, column),
          )
          .join(''),
      ),
    };
  });
}

/** Dashes this near to each other overlap. */
const NEAR_BINS = 0.2;

const round = (value: number) => Math.round(value * 100) / 100;

/** A region in words. */
export function describeRegion(region: Region, timeZone: TimeZoneChoice): string {
  const { fromMs, toMs, minMs, maxMs } = region;
  const time = describeTime({ startMs: fromMs }, { intervalMs: toMs - fromMs, timeZone });
  return `${time}, ${describeBounds({ fromMs: minMs, toMs: maxMs })}`;
}

/** A cell in words. */
export function describeCell(map: HeatMap, cell: Cell, timeZone: TimeZoneChoice): string {
  const count = map.columns[cell.column]?.[cell.row] ?? 0;
  return `${describeRegion(regionOf(map, cellsBetween(cell, cell)), timeZone)}: ${countOf(count, 'request')}`;
}

/** Filter of the requests of a region, slowest first. */
export function requestsOfRegion({ fromMs, toMs, minMs, maxMs }: Region, metric: Metric): RequestsFilter {
  return {
    ...{ from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() },
    ...requestsBetween({ fromMs: minMs, toMs: maxMs }, metric),
  };
}

/** Filter of the requests of a duration, slowest first. */
export const requestsBetween = ({ fromMs, toMs }: Pick<Bin, 'fromMs' | 'toMs'>, metric: Metric): RequestsFilter => ({
  min_latency: fromMs > 0 ? String(fromMs) : undefined,
  max_latency: String(toMs),
  latency_of: metric === 'latency' ? undefined : metric,
  sort: `-${metric}_ms`,
});

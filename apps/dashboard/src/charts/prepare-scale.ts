import type { ChartData, Series } from './prepare-series';

interface Buckets {
  readonly times: ChartData['times'];
  readonly intervalMs: number;
}

/** Seconds from the start of the first bucket to the end of the last one: the same for bars and lines. */
export function timeScale({ times, intervalMs }: Buckets): [number, number] {
  const [first = 0, last = first] = [times[0], times.at(-1)];
  return [first / 1000, (last + intervalMs) / 1000];
}

/** Place of a bucket's point, seconds: the middle of its bar. */
export const middleOf = (startMs: number, intervalMs: number): number => (startMs + intervalMs / 2) / 1000;

/** Index of the bucket that an instant is in; the first or last one beyond the ends, null without buckets. */
export function bucketAt({ times }: Pick<Buckets, 'times'>, ms: number): number | null {
  if (times.length === 0) return null;
  return Math.max(
    0,
    times.findLastIndex((time) => time <= ms),
  );
}

/** The layer of a stack that reaches a value; undefined above all of them. */
export function layerAt(layers: readonly Series[], index: number, value: number): Series | undefined {
  let sum = 0;
  return layers.find(({ values }) => {
    const amount = values[index] ?? 0;
    sum += amount;
    return amount > 0 && sum >= value;
  });
}

/** Measurements in a bucket from which percentiles make a line. */
export const ENOUGH = 20;

/** True if a percentile of the chart is of few measurements. */
export const hasFew = ({ counts, series }: ChartData): boolean =>
  series.some(({ values }) => splitFew(values, counts).dots.some((value) => value !== null));

/** How many earlier dots lie on one: it needs as many rims to be seen. `near` is a distance in the unit of the places. */
export function coveringOf(places: readonly (number | null)[], index: number, near: number): number {
  const place = places[index] ?? null;
  if (place === null) return 0;
  return places.slice(0, index).filter((other) => other !== null && Math.abs(other - place) < near).length;
}

/** Values for a line, those of few measurements for dots, and what a thin line joins across gaps, where there are dots. */
export function splitFew(
  values: readonly (number | null)[],
  counts: ChartData['counts'],
): Record<'line' | 'dots' | 'thin', readonly (number | null)[]> {
  const isFew = (index: number) => (counts?.[index] ?? ENOUGH) < ENOUGH;
  const dots = values.map((value, index) => (isFew(index) ? value : null));
  return {
    line: values.map((value, index) => (isFew(index) ? null : value)),
    dots,
    thin: dots.some((value) => value !== null) ? values : dots,
  };
}

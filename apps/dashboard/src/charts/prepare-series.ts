import { toCsv } from '../format/csv';
import { colorOf as nameColorOf } from './series-colors';

/** One line or layer of a chart; `null` is a gap, `0` a zero. Values align with the chart's times. */
export interface Series {
  readonly name: string;
  /** Display name; by default the name itself. */
  readonly label: string;
  readonly color: string;
  readonly values: readonly (number | null)[];
  /** Values of few measurements are rings instead of dots: they show what lies below them. */
  readonly hasRings?: boolean;
}

export interface ChartData {
  /** Starts of the buckets, epoch milliseconds. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
  /** Requests in each bucket, if the values aren't counts themselves. */
  readonly counts?: readonly (number | null)[];
}

interface Bucket {
  readonly start: string;
  readonly group: string | null;
}

export interface PrepareOptions<B extends Bucket> {
  readonly times: readonly number[];
  readonly buckets: readonly B[];
  readonly value: (bucket: B) => number | null;
  /** Empty bucket: 0 for counts, null for measurements. */
  readonly empty: 0 | null;
  readonly labelOf?: (group: string) => string;
  /** Absent: the one of models and providers. */
  readonly colorOf?: (group: string, beside: readonly string[]) => string;
}

export const UNNAMED = '(none)';

/** Buckets as the API gives them → one series a group, the largest first; the first series is drawn at the bottom. */
export function prepareSeries<B extends Bucket>(options: PrepareOptions<B>): ChartData {
  const { times, buckets, value, empty, labelOf = (group) => group } = options;
  const { colorOf = nameColorOf } = options;
  const indexOf = new Map(times.map((time, index) => [time, index]));
  const groups = new Map<string, { total: number; values: (number | null)[] }>();
  for (const bucket of buckets) {
    const index = indexOf.get(Date.parse(bucket.start));
    if (index === undefined) continue;
    const name = bucket.group ?? '';
    const group = groups.get(name) ?? { total: 0, values: times.map(() => empty as number | null) };
    groups.set(name, group);
    const amount = value(bucket);
    group.values[index] = amount;
    group.total += amount ?? 0;
  }
  const sorted = [...groups].sort(
    ([nameA, a], [nameB, b]) => rank(nameA) - rank(nameB) || b.total - a.total || (nameA < nameB ? -1 : 1),
  );
  const names = sorted.map(([name]) => name);
  const series = sorted.map(([name, { values }]) => ({
    name,
    label: name === '' ? UNNAMED : labelOf(name),
    color: colorOf(name, names),
    values,
  }));
  return { times, series };
}

export interface LinesOptions<B> {
  readonly times: readonly number[];
  readonly buckets: readonly B[];
  readonly lines: readonly (Omit<Series, 'values'> & { readonly value: (bucket: B) => number | null })[];
  /** See `prepareSeries`. */
  readonly empty: 0 | null;
}

/** Buckets of one group → one series a line, each another figure of the same buckets. */
export function prepareLines<B extends Pick<Bucket, 'start'>>({
  times,
  buckets,
  lines,
  empty,
}: LinesOptions<B>): ChartData {
  const byStart = new Map(buckets.map((bucket) => [Date.parse(bucket.start), bucket]));
  const found = times.map((time) => byStart.get(time));
  const series = lines.map(({ value, ...line }) => ({
    ...line,
    values: found.map((bucket) => (bucket ? value(bucket) : empty)),
  }));
  return { times, series };
}

/** Adds how many requests each bucket's values are of. */
export function withCounts<B extends Pick<Bucket, 'start'>>(
  chart: ChartData,
  buckets: readonly B[],
  countOf: (bucket: B) => number,
): ChartData {
  const counts = new Map(buckets.map((bucket) => [Date.parse(bucket.start), countOf(bucket)]));
  return { ...chart, counts: chart.times.map((time) => counts.get(time) ?? null) };
}

/** Generic names come last. */
const rank = (name: string) => (name === '(other)' ? 2 : name === '' ? 1 : 0);

/** Values on top of each other: the sum of a series and all below it. Gaps count as nothing. */
export function stackValues(series: readonly Series[]): readonly (readonly number[])[] {
  const sums: number[] = [];
  return series.map(({ values }) =>
    values.map((value, index) => {
      const sum = (sums[index] ?? 0) + (value ?? 0);
      sums[index] = sum;
      return sum;
    }),
  );
}

/** The running total, e.g. spend of the month so far. */
export function accumulate(values: readonly (number | null)[]): number[] {
  let sum = 0;
  return values.map((value) => {
    sum += value ?? 0;
    return sum;
  });
}

/** Values with a gap, or an end, on both sides. */
export function isolatedIndexes(values: ArrayLike<number | null | undefined>): readonly number[] {
  const isGap = (index: number) => (values[index] ?? null) === null;
  const indexes = Array.from(values, (_, index) => index);
  return indexes.filter((index) => !isGap(index) && isGap(index - 1) && isGap(index + 1));
}

/** Index of the unfinished bucket, so that it doesn't look like a drop; null if the chart ends before now. */
export function unfinishedIndex(times: readonly number[], intervalMs: number, nowMs: number): number | null {
  const index = times.findLastIndex((time) => time <= nowMs);
  const time = times[index];
  return time !== undefined && nowMs < time + intervalMs ? index : null;
}

/** Is there anything to draw? */
export const isEmpty = ({ series }: ChartData): boolean =>
  series.every(({ values }) => values.every((value) => value === null || value === 0));

/** CSV rows of a chart. */
export function chartCsv({ times, series }: ChartData): string {
  const head = ['start', ...series.map(({ label }) => label)];
  const rows = times.map((time, index) => [
    new Date(time).toISOString(),
    ...series.map(({ values }) => values[index] ?? ''),
  ]);
  return toCsv([head, ...rows]);
}

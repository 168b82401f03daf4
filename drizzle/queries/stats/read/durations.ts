import {
  type Histogram,
  histogramQuantile,
  mergeHistogram,
  packHistogram,
  unpackHistograms,
} from '@llm0/core/logs/histogram';
import { eachInSlices } from '@llm0/core/logs/in-slices';
import { type SQL, sql } from 'drizzle-orm';
import { askBins } from '../../clickhouse/segment-rows';
import { METRIC_NAMES, type MetricName, type StatsScope } from './questions';
import { groupOf, startOf, tableOf, within } from './segment-sql';
import type { Ask } from './time-limit';
import { type StatsSegment, splitLong } from './time-segments';
import { bucketKey, loadNames } from './totals';

/** Milliseconds, within 2 % of the exact ones; null when nothing was measured. */
export interface Percentiles {
  readonly p50: number | null;
  readonly p95: number | null;
  readonly p99: number | null;
}

export type Durations = Readonly<Record<MetricName, Percentiles>>;
/** Durations by bin; unmeasured metrics are missing. */
export type Histograms = Partial<Record<MetricName, Histogram>>;

/** Adds `source` to `target`. */
export function mergeDurations(target: Histograms, source: Histograms | undefined): void {
  for (const name of METRIC_NAMES) {
    const from = source?.[name];
    if (from === undefined) continue;
    const to = target[name];
    if (to === undefined) target[name] = new Map(from);
    else mergeHistogram(to, from);
  }
}

const NOTHING: Percentiles = { p50: null, p95: null, p99: null };

export function durationsOf(histograms: Histograms | undefined): Durations {
  return eachMetric((name) => {
    const histogram = histograms?.[name];
    if (histogram === undefined) return NOTHING;
    const at = (share: number) => histogramQuantile(histogram, share);
    return { p50: at(0.5), p95: at(0.95), p99: at(0.99) };
  });
}

const eachMetric = <T>(of: (name: MetricName) => T) =>
  Object.fromEntries(METRIC_NAMES.map((name) => [name, of(name)])) as Record<MetricName, T>;

/** Histograms by `bucketKey`. */
export const loadHistograms = (ask: Ask, segments: readonly StatsSegment[], scope: StatsScope) =>
  readHistograms({ ask, segments, scope, show: (histograms) => histograms });

/** Percentiles by `bucketKey`. */
export const loadDurations = (ask: Ask, segments: readonly StatsSegment[], scope: StatsScope) =>
  readHistograms({ ask, segments, scope, show: durationsOf });

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Largest range of one statement: some megabytes of histograms with hundreds of groups. */
const STRETCHES_MS = { rows: DAY_MS, rollup_minute: DAY_MS / 2, rollup_hour: 8 * DAY_MS, rollup_day: 30 * DAY_MS };
/** Histograms of one bucket are added up before they take more than this. */
const MAX_BYTES = 8 * 2 ** 20;

interface Reading<T> {
  readonly ask: Ask;
  /** In the order of time. */
  readonly segments: readonly StatsSegment[];
  readonly scope: StatsScope;
  readonly show: (histograms: Histograms) => T;
}

/**
 * Postgres only concatenates histograms, which is cheap; this process adds them. It emits finished buckets before
 * reading more, to save memory.
 */
async function readHistograms<T>({ ask, segments, scope, show }: Reading<T>): Promise<ReadonlyMap<string, T>> {
  const metrics = scope.metrics ?? METRIC_NAMES;
  const shown = new Map<string, T>();
  let open = new Map<string, PackedBucket>();
  let bytes = 0;
  const showUntil = async (endMs: number) => {
    const later = new Map<string, PackedBucket>();
    await eachInSlices(open, ([key, bucket]) => {
      if (bucket.startMs + (scope.intervalMs ?? Number.POSITIVE_INFINITY) > endMs) later.set(key, bucket);
      else shown.set(key, show(unpack(bucket, metrics)));
    });
    open = later;
  };
  for (const part of splitLong(segments, STRETCHES_MS, scope.intervalMs)) {
    // Tool calls have no durations.
    if (part.isOfCalls === true) continue;
    const rows =
      part.elsewhere === undefined
        ? await ask<PackedRow>(packedQuery(part, scope, metrics))
        : await packElsewhere(ask, part.elsewhere, { segment: part, scope, metrics });
    for (const row of rows) {
      const startMs = Number(row.start_ms);
      const key = bucketKey(startMs, row.grp);
      const bucket = open.get(key) ?? { startMs, packed: { latency: [], ttft: [], overhead: [], upstream: [] } };
      open.set(key, bucket);
      for (const name of metrics) {
        const packed = row[name];
        if (packed === null) continue;
        bucket.packed[name].push(packed);
        bytes += packed.length;
      }
    }
    if (scope.intervalMs !== undefined) await showUntil(part.toMs);
    else if (bytes > MAX_BYTES) {
      for (const { packed } of open.values()) {
        for (const name of metrics) packed[name] = [packHistogram(unpackHistograms(packed[name]))];
      }
      bytes = 0;
    }
  }
  await showUntil(Number.POSITIVE_INFINITY);
  return shown;
}

interface PackedBucket {
  readonly startMs: number;
  readonly packed: Record<MetricName, Uint8Array[]>;
}

function unpack({ packed }: PackedBucket, metrics: readonly MetricName[]): Histograms {
  const histograms: Histograms = {};
  for (const name of metrics) {
    const histogram = unpackHistograms(packed[name]);
    if (histogram.size > 0) histograms[name] = histogram;
  }
  return histograms;
}

interface PackedRow extends Record<MetricName, Uint8Array | null> {
  readonly [column: string]: unknown;
  readonly start_ms: string;
  readonly grp: string | null;
}

interface Elsewhere {
  readonly segment: StatsSegment;
  readonly scope: StatsScope;
  readonly metrics: readonly MetricName[];
}

/** The same rows from counts by bin. */
async function packElsewhere(ask: Ask, elsewhere: Ask, { segment, scope, metrics }: Elsewhere) {
  const nameOf = await loadNames(ask, scope);
  const found = new Map<string, { readonly startMs: number; readonly grp: string | null; readonly sums: Histograms }>();
  for (const metric of metrics) {
    for (const { start_ms: start, grp, bin, n } of await askBins(elsewhere, segment, { scope, metric })) {
      const name = nameOf(grp);
      const startMs = Number(start);
      const empty = () => ({ startMs, grp: name, sums: {} });
      const { sums } = found.getOrInsertComputed(bucketKey(startMs, name), empty);
      mergeDurations(sums, { [metric]: new Map([[Number(bin), segment.isLess === true ? -Number(n) : Number(n)]]) });
    }
  }
  return [...found.values()].map(({ startMs, grp, sums }) => {
    const packed = eachMetric((name) => (sums[name] === undefined ? null : packHistogram(sums[name])));
    return { start_ms: String(startMs), grp, ...packed };
  });
}

/** One row for each bucket and group, with concatenated histograms. */
function packedQuery(segment: StatsSegment, scope: StatsScope, metrics: readonly MetricName[]): SQL {
  const packed = metrics.map((name) =>
    segment.source === 'rows'
      ? `string_agg(llm0_histogram_of(${name}_ms), ''::bytea) as ${name}`
      : `string_agg(${name}_histogram, ''::bytea) as ${name}`,
  );
  return sql`select ${startOf(segment, scope.intervalMs)} as start_ms, ${groupOf(segment, scope)} as grp,
      ${sql.raw(packed.join(', '))}
    from ${tableOf(segment, scope)} where ${within(segment, scope)} group by 1, 2`;
}

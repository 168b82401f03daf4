import { binValueMs, type Histogram, histogramQuantile, mergeHistogram } from '@llm0/core/logs/histogram';
import { eachInSlices } from '@llm0/core/logs/in-slices';
import { sql } from 'drizzle-orm';
import type { Db } from '../client';
import { binsQueries } from './duration-bins';
import { loadRankedDays, RANKED_STEPS, type RankedStep } from './ranked-durations';
import { othersOfHours, planHours, readHours } from './ranked-hours';
import { type RankedPlace, rankedPlaceOf, withinRanked } from './ranked-place';
import type { StatsSegment } from './stats-range';
import { METRIC_NAMES, type MetricName, type StatsScope, startOf } from './stats-sources';
import { bucketKey } from './stats-totals';

/** Milliseconds, within 2 % of the exact ones; null when nothing was measured. */
export interface Percentiles {
  readonly p50: number | null;
  readonly p95: number | null;
  readonly p99: number | null;
}

export type Durations = Readonly<Record<MetricName, Percentiles>>;

/** Durations by bin; a metric nobody measured is missing. */
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
export async function loadHistograms(db: Db, segments: readonly StatsSegment[], scope: StatsScope) {
  const plan = await planRanked(db, segments, scope);
  return readHistograms(db, plan === undefined ? segments : [...plan.rest, ...plan.ranked], scope);
}

/** Percentiles by `bucketKey`: as they were ranked where buckets and groups are those of a step, else from histograms. */
export async function loadDurations(
  db: Db,
  segments: readonly StatsSegment[],
  scope: StatsScope,
): Promise<ReadonlyMap<string, Durations>> {
  const hours = await planHours(db, segments, scope);
  const left = hours === undefined ? segments : [...hours.rest, ...othersOfHours(hours, scope)];
  const plan = await planRanked(db, left, scope);
  const isDirect = plan !== undefined && scope.intervalMs === plan.step.hours * HOUR_MS;
  const found = isDirect ? await readRanked(db, plan, scope) : new Map<string, Durations>();
  if (hours !== undefined) await readHours(db, hours, scope, found);
  const summed = plan === undefined ? left : [...plan.rest, ...(isDirect ? othersOf(plan, scope) : plan.ranked)];
  const histograms = await readHistograms(db, summed, scope);
  await eachInSlices(histograms, ([key, bins]) => found.set(key, durationsOf(bins)));
  return found;
}

/** What is left to be added up where the groups that keep their name are ranked. */
const othersOf = ({ ranked }: RankedPlan, { kept }: StatsScope): readonly StatsSegment[] =>
  kept === undefined ? [] : ranked.map((segment) => ({ ...segment, onlyOthers: true }));

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

interface RankedPlan {
  readonly step: RankedStep;
  readonly place: RankedPlace;
  /** Whole days whose percentiles are ranked. */
  readonly ranked: readonly StatsSegment[];
  readonly rest: readonly StatsSegment[];
}

/** Undefined where nothing of it is ranked. */
async function planRanked(
  db: Db,
  segments: readonly StatsSegment[],
  scope: StatsScope,
): Promise<RankedPlan | undefined> {
  const { intervalMs = DAY_MS, kept } = scope;
  const place = rankedPlaceOf(scope);
  const step = RANKED_STEPS.find(({ hours }) => intervalMs % (hours * HOUR_MS) === 0);
  if (place === undefined || step === undefined) return undefined;
  if (step.isRankOnly === true && (place.dimension !== 'all' || kept !== undefined || intervalMs !== HOUR_MS))
    return undefined;
  const isSplit = (segment: StatsSegment) => FULL_BUCKETS.has(segment.source) && daysOf(segment).length > 0;
  const fromMs = Math.min(...segments.filter(isSplit).map((segment) => segment.fromMs));
  const toMs = Math.max(...segments.filter(isSplit).map((segment) => segment.toMs));
  if (fromMs > toMs) return undefined;
  const days = await loadRankedDays(db, fromMs, toMs);
  const ranked: StatsSegment[] = [];
  const rest: StatsSegment[] = [];
  for (const segment of segments) {
    if (!isSplit(segment)) rest.push(segment);
    else for (const part of splitByDays(segment, days)) (part.stepHours === undefined ? rest : ranked).push(part);
  }
  return { step, place, rest, ranked: ranked.map((segment) => ({ ...segment, stepHours: step.hours })) };
}

const FULL_BUCKETS: ReadonlySet<StatsSegment['source']> = new Set(['rollup_hour', 'rollup_quarter', 'rollup_day']);

/** Starts of the days that lie whole within a segment. */
function daysOf({ fromMs, toMs }: StatsSegment): readonly number[] {
  const firstMs = Math.ceil(fromMs / DAY_MS) * DAY_MS;
  return Array.from({ length: Math.max(0, Math.floor((toMs - firstMs) / DAY_MS)) }, (_, i) => firstMs + i * DAY_MS);
}

/** The same stretch in parts; those of ranked days are of `rollup_durations`. */
function splitByDays(segment: StatsSegment, ranked: ReadonlySet<number>): readonly StatsSegment[] {
  const parts: StatsSegment[] = [];
  const add = (part: StatsSegment) => {
    const last = parts.at(-1);
    if (part.fromMs >= part.toMs) return;
    if (last?.source === part.source) parts[parts.length - 1] = { ...last, toMs: part.toMs };
    else parts.push(part);
  };
  let atMs = segment.fromMs;
  for (const day of daysOf(segment).filter((startMs) => ranked.has(startMs))) {
    add({ ...segment, fromMs: atMs, toMs: day });
    atMs = day + DAY_MS;
    add({ source: 'rollup_durations', stepHours: 0, fromMs: day, toMs: atMs });
  }
  add({ ...segment, fromMs: atMs });
  return parts;
}

interface RankedRow extends Record<string, unknown> {
  start_ms: string;
  grp: string | null;
  metric: MetricName;
  p50: number;
  p95: number;
  p99: number;
}

async function readRanked(db: Db, { place, ranked }: RankedPlan, scope: StatsScope): Promise<Map<string, Durations>> {
  const found = new Map<string, Record<MetricName, Percentiles>>();
  const metrics = scope.metrics ?? METRIC_NAMES;
  for (const segment of ranked) {
    const rows = await db.execute<RankedRow>(sql`
      select ${startOf(segment, scope.intervalMs)} as start_ms, ${place.group} as grp, metric, p50, p95, p99
      from rollup_durations where ${withinRanked({ segment, place, metrics, kept: scope.kept })}`);
    for (const { start_ms: startMs, grp, metric, p50, p95, p99 } of rows) {
      const key = bucketKey(Number(startMs), grp);
      const durations = found.get(key) ?? eachMetric(() => NOTHING);
      durations[metric] = { p50: binValueMs(p50), p95: binValueMs(p95), p99: binValueMs(p99) };
      found.set(key, durations);
    }
  }
  return found;
}

interface BinRow extends Record<string, unknown> {
  start_ms: string;
  grp: string | null;
  metric: MetricName;
  bins: string;
}

async function readHistograms(db: Db, segments: readonly StatsSegment[], scope: StatsScope) {
  const byBucket = new Map<string, Histograms>();
  for (const query of binsQueries(segments, scope)) {
    await eachInSlices(await db.execute<BinRow>(query), (row) => {
      const key = bucketKey(Number(row.start_ms), row.grp);
      const histograms = byBucket.get(key) ?? {};
      byBucket.set(key, histograms);
      mergeDurations(histograms, { [row.metric]: readBins(row.bins) });
    });
  }
  return byBucket;
}

/** `bin:count bin:count …` */
function readBins(text: string): Map<number, number> {
  const histogram = new Map<number, number>();
  for (const pair of text.split(' ')) {
    const colon = pair.indexOf(':');
    histogram.set(Number(pair.slice(0, colon)), Number(pair.slice(colon + 1)));
  }
  return histogram;
}

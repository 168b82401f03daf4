import type { CacheBucket, Overview } from '../../api/stats';
import type { ChartData } from '../../charts/prepare-series';
import { MEANING } from '../../charts/series-colors';
import { formatCompact, formatShare } from '../../format/format-number';
import { formatUsd } from '../../format/format-usd';
import { statsOf } from '../../ui/prepare-stat';
import type { Stat } from '../../ui/stat-card';

export const shareOf = (part: number, whole: number): number | null => (whole === 0 ? null : part / whole);

/** The share of requests that a cache answered; null without requests. */
export const hitRate = (o: Overview): number | null => shareOf(o.cache_hits + o.semantic_hits, o.requests);

/** The cards of the cache, each with the same number of the previous period. */
export function prepareCacheStats(now: Overview | undefined, before: Overview | undefined): Stat[] {
  const stat = statsOf(now, before);
  return [
    stat({ label: 'Hit rate', pick: hitRate, show: formatShare, better: 'more' }),
    stat({ label: 'Saved', pick: (o) => o.saved_usd, show: formatUsd, better: 'more' }),
    stat({ label: 'Exact hits', pick: (o) => o.cache_hits, show: formatCompact }),
    stat({ label: 'Semantic hits', pick: (o) => o.semantic_hits, show: formatCompact }),
  ];
}

const KINDS = [
  { name: 'exact', label: 'Exact hits', value: (bucket: CacheBucket) => bucket.cache_hits },
  { name: 'semantic', label: 'Semantic hits', value: (bucket: CacheBucket) => bucket.semantic_hits },
  { name: 'miss', label: 'Not from the cache', value: (bucket: CacheBucket) => bucket.misses },
] as const;

/** How requests were answered, over time; no requests is zero. */
export function prepareOutcomes(times: readonly number[], buckets: readonly CacheBucket[]): ChartData {
  const byStart = new Map(buckets.map((bucket) => [Date.parse(bucket.start), bucket]));
  const series = KINDS.map(({ name, label, value }) => ({
    name,
    label,
    color: MEANING[name],
    values: times.map((time) => {
      const bucket = byStart.get(time);
      return bucket === undefined ? 0 : value(bucket);
    }),
  }));
  return { times, series };
}

/** The share of hits, over time; where nothing was asked there is a gap. */
export function prepareRatio(times: readonly number[], buckets: readonly CacheBucket[]): ChartData {
  const byStart = new Map(buckets.map((bucket) => [Date.parse(bucket.start), bucket.hit_ratio]));
  const values = times.map((time) => byStart.get(time) ?? null);
  return { times, series: [{ name: 'ratio', label: 'Hit rate', color: MEANING.exact, values }] };
}

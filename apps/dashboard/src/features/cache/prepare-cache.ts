import type { CacheBucket } from '../../api/stats';
import type { ChartData } from '../../charts/prepare-series';
import { MEANING } from '../../charts/series-colors';

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

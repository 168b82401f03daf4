import type { CacheBucket, Overview } from '../../api/stats';
import { type ChartData, type LinesOptions, prepareLines, withCounts } from '../../charts/prepare-series';
import { MEANING } from '../../charts/series-colors';
import { formatCount, formatShare } from '../../format/format-number';
import { formatUsd } from '../../format/format-usd';
import { SAVED } from '../../format/saved-labels';
import { type RequestsFilter, requestsLink } from '../../range/use-show-requests';
import { statsOf } from '../../ui/prepare-stat';
import type { Stat } from '../../ui/stat-card';
import { filterOf } from '../spend/prepare-spend';

export const shareOf = (part: number, whole: number): number | null => (whole === 0 ? null : part / whole);

type Outcomes = Pick<CacheBucket & Overview, 'cache_hits' | 'semantic_hits' | 'misses'>;

/** Requests that came to the caches: without refused ones, and names that no model has. */
export const reachedCaches = (of: Outcomes): number => of.cache_hits + of.semantic_hits + of.misses;

const NOT_ASKED = ['caller_error', 'rate_limited', 'cap_exceeded'] as const;

/** Filter that finds the requests of a series of `prepareOutcomes`, or of all of them. */
export const requestsOfAnswer = (series: string | null): RequestsFilter => ({
  cache: series ?? undefined,
  outcome_not: NOT_ASKED,
});

/** Filter that finds just these of a model; undefined for the rest of the models. */
export function requestsOfModel(model: string | null): RequestsFilter | undefined {
  const filter = filterOf('model', model ?? '');
  return Object.keys(filter).length === 0 ? undefined : { ...filter, outcome_not: NOT_ASKED };
}

/** The share of these that a cache answered, on all pages; null without any. */
export const hitRate = (of: Outcomes): number | null => shareOf(of.cache_hits + of.semantic_hits, reachedCaches(of));

const HITS = requestsLink({ cache: ['exact', 'semantic'] });

/** The cards of the cache, each with the same number of the previous period. */
export function prepareCacheStats(now: Overview | undefined, before: Overview | undefined): Stat[] {
  const stat = statsOf(now, before);
  return [
    stat({ label: 'Hit rate', pick: hitRate, show: formatShare, isShare: true, better: 'more', to: HITS }),
    stat({ label: SAVED.byCache, pick: (o) => o.saved_usd, show: formatUsd, better: 'more', to: HITS }),
    stat({ label: 'Exact hits', pick: (o) => o.cache_hits, show: formatCount, to: requestsLink({ cache: 'exact' }) }),
    stat({
      label: 'Semantic hits',
      pick: (o) => o.semantic_hits,
      show: formatCount,
      to: requestsLink({ cache: 'semantic' }),
    }),
  ];
}

type Line = LinesOptions<CacheBucket>['lines'][number];
const OUTCOMES: readonly Line[] = [
  { name: 'exact', label: 'Exact hits', color: MEANING.exact, value: (bucket) => bucket.cache_hits },
  { name: 'semantic', label: 'Semantic hits', color: MEANING.semantic, value: (bucket) => bucket.semantic_hits },
  { name: 'miss', label: 'Misses', color: MEANING.miss, value: (bucket) => bucket.misses },
];
const RATIO: Line = { name: 'ratio', label: 'Hit rate', color: MEANING.exact, value: hitRate };

/** Answers over time; no requests is zero. */
export const prepareOutcomes = (times: readonly number[], buckets: readonly CacheBucket[]): ChartData =>
  prepareLines({ times, buckets, lines: OUTCOMES, empty: 0 });

/** Share of hits over time, with gaps without requests. */
export const prepareRatio = (times: readonly number[], buckets: readonly CacheBucket[]): ChartData =>
  withCounts(prepareLines({ times, buckets, lines: [RATIO], empty: null }), buckets, reachedCaches);

import type { AnswerFrom } from '@llm0/gateway/admin/route-types';
import { keepPreviousData, type QueryKey, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { previousRange, rangeQuery, type Stretch } from '../range/time-range';
import { isAway } from './away';
import { api, read } from './client';
import { useIsLive, useLive } from './live';

export type Overview = AnswerFrom<typeof api.stats.overview.$get>;
export type PromptCache = AnswerFrom<(typeof api.stats)['prompt-cache']['$get']>['data'][number];
export type SpendBucket = AnswerFrom<typeof api.stats.spend.$get>['buckets'][number];
export type SpendCell = AnswerFrom<(typeof api.stats)['spend-table']['$get']>['cells'][number];
export type LatencyBucket = AnswerFrom<typeof api.stats.latency.$get>['buckets'][number];
export type CacheBucket = AnswerFrom<typeof api.stats.cache.$get>['buckets'][number];
export type ErrorBucket = AnswerFrom<typeof api.stats.errors.$get>['buckets'][number];
export type ProviderHealth = AnswerFrom<typeof api.stats.health.$get>['buckets'][number];
export type FailoverGroup = AnswerFrom<typeof api.stats.failovers.$get>['groups'][number];
export type Budget = AnswerFrom<typeof api.budgets.$get>['data'][number];

/** Query of the API; addresses hold text only. */
export interface StatsQuery {
  readonly from: string;
  readonly to: string;
  readonly project_id?: string;
  readonly interval?: string;
  readonly group_by?: string;
  readonly customer_id?: string;
  readonly top?: string;
}

const REFRESH_MS = 30_000;

/** Seconds, as an interval of the API. */
export const asInterval = (ms: number): string => String(ms / 1000);

/** Statistics of a range, reloaded at intervals; earlier ones stay until then. */
function useStats<T>(queryKey: QueryKey, ask: () => Promise<{ json(): Promise<T> }>, enabled = true) {
  const isTold = useIsLive();
  const found = useQuery({
    queryKey,
    queryFn: () => read(ask()),
    enabled,
    placeholderData: keepPreviousData,
    refetchInterval: isTold ? false : REFRESH_MS,
  });
  // Keeps the last data of the question during an outage, because the clock moves its range.
  const known = useRef<{ readonly data: T; readonly question: string }>(undefined);
  const question = JSON.stringify(queryKey.map(withoutClock));
  if (found.data !== undefined && !found.isPlaceholderData) known.current = { data: found.data as T, question };
  if (!isAway(found.error)) return found;
  return { ...found, data: known.current?.question === question ? known.current.data : undefined };
}

/** Shortest interval between reloads of charts after new rows; counts may take the database seconds. */
const CHARTS_MS = 10_000;
const COUNTS_MS = 30_000;
const isChart = ([what]: QueryKey) => what === 'stats' || what === 'budgets';
const isCount = ([what, part]: QueryKey) => what === 'logs' && (part === 'count' || part === 'tally');

/** Reloads matching queries, now or after a pause since the last load. */
function useAskAnew(isMeant: (queryKey: QueryKey) => boolean, restMs: number): () => void {
  const client = useQueryClient();
  const askedMs = useRef(0);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const ask = () => {
    timer.current = undefined;
    askedMs.current = Date.now();
    void client.invalidateQueries({ predicate: ({ queryKey }) => isMeant(queryKey) });
  };
  return () => {
    timer.current ??= setTimeout(ask, Math.max(0, askedMs.current + restMs - Date.now()));
  };
}

/** Long enough to hear of each request once. */
const HOUR_SECONDS = '3600';

/** Reads lists of these names anew while requests come in. */
export function useLiveLists(names: readonly string[], projectId: string | undefined): void {
  const askLists = useAskAnew(([what]) => names.some((name) => name === what), CHARTS_MS);
  useLive<Overview>({
    topic: 'overview',
    query: { range: HOUR_SECONDS, ...(projectId === undefined ? {} : { project_id: projectId }) },
    isOn: true,
    onNews: askLists,
  });
}

/** Keeps a range up to now current: the stream sends its counters, and their changes reload its charts. */
export function useLiveStats(query: StatsQuery | undefined, endsNow: boolean): void {
  const client = useQueryClient();
  const askCharts = useAskAnew(isChart, CHARTS_MS);
  const askCounts = useAskAnew(isCount, COUNTS_MS);
  const lengthMs = query === undefined ? 0 : Date.parse(query.to) - Date.parse(query.from);
  useLive<Overview>({
    topic: 'overview',
    query: {
      range: String(Math.round(lengthMs / 1000)),
      ...(query?.project_id === undefined ? {} : { project_id: query.project_id }),
    },
    isOn: query !== undefined && endsNow,
    onNews: (overview) => {
      askCounts();
      // The page's clock was stopped. It advances now, and the new range includes the new rows.
      if (Date.parse(query?.to ?? '') < Date.now()) return;
      const queryKey = ['stats', 'overview', query];
      const before = client.getQueryData<Overview>(queryKey);
      if (before !== undefined) client.setQueryData(queryKey, overview);
      if (before?.requests !== overview.requests) askCharts();
    },
  });
}

/** A question with the length of its range instead of its ends. */
function withoutClock(part: unknown): unknown {
  if (typeof part !== 'object' || part === null || !('from' in part && 'to' in part)) return part;
  return { ...part, from: null, to: Date.parse(String(part.to)) - Date.parse(String(part.from)) };
}

export const useOverview = (query: StatsQuery) =>
  useStats(['stats', 'overview', query], () => api.stats.overview.$get({ query: { ...query } }));

/**
 * Totals of the period before, to compare with; undefined while unknown, and where it began within that period or has no
 * data: a change against part of a period misleads.
 */
export function usePrevious(query: StatsQuery, range: Stretch): Previous {
  const before = useOverview({ ...query, ...rangeQuery(previousRange(range)) });
  const first = useOverview({ ...query, ...rangeQuery(previousRange(previousRange(range))) });
  const known = useRef<string>(undefined);
  const question = JSON.stringify(withoutClock(query));
  const isLoaded = [before, first].every(({ data, isPlaceholderData }) => data !== undefined && !isPlaceholderData);
  if (isLoaded) known.current = question;
  return {
    data: isComparable(before.data, first.data) ? before.data : undefined,
    isKnown: known.current === question,
  };
}

interface Previous {
  readonly data: Overview | undefined;
  /** Whether there is something to compare with, whatever the clock adds. */
  readonly isKnown: boolean;
}

/** True if a period has requests, and the one before it too: it didn't begin late. */
export const isComparable = (before: Counted | undefined, first: Counted | undefined): boolean =>
  (before?.requests ?? 0) > 0 && (first?.requests ?? 0) > 0;

type Counted = Pick<Overview, 'requests'>;

type Grouped = Omit<StatsQuery, 'group_by'> & { group_by?: 'model' };

/** The client's types know the fixed names of groups only; `label.<name>` is one too. */
const grouped = (query: StatsQuery) => ({ ...query }) as Grouped;

export const useSpend = (query: StatsQuery, enabled = true) =>
  useStats(['stats', 'spend', query], () => api.stats.spend.$get({ query: grouped(query) }), enabled);

interface SpendTableQuery extends Pick<StatsQuery, 'from' | 'to' | 'project_id'> {
  readonly columns: 'customer' | 'project' | 'key' | 'modality';
  readonly top: string;
}

/** Spend of models by another group. */
export const useSpendTable = (query: SpendTableQuery) =>
  useStats(['stats', 'spend-table', query], () => api.stats['spend-table'].$get({ query: { ...query } }));

export type Metric = 'latency' | 'ttft' | 'upstream' | 'overhead';

/**
 * Durations are those of providers' answers: cache hits and failures take a millisecond and would hide how slow those
 * are. The overhead of all requests counts.
 */
export const answersOf = (metric: Metric): { readonly cache?: 'miss'; readonly outcome?: 'success' } =>
  metric === 'overhead' ? {} : { cache: 'miss', outcome: 'success' };

/** Latency of all metrics, or of one; the others are then null. */
export const useLatency = (query: StatsQuery, metric?: Metric, enabled = true) => {
  const asked = { ...grouped(query), ...(metric === undefined ? {} : { metric }) };
  return useStats(['stats', 'latency', asked], () => api.stats.latency.$get({ query: asked }), enabled);
};

/** Tokens per second of each model. */
export const useSpeeds = ({ from, to, project_id }: StatsQuery) => {
  const query = { from, to, project_id };
  return useStats(['stats', 'speeds', query], () => api.stats.speeds.$get({ query }));
};

/** Prompt cache hits of providers and their savings, by model. */
export const usePromptCaches = ({ from, to, project_id }: StatsQuery) => {
  const query = { from, to, project_id };
  return useStats(['stats', 'prompt-cache', query], () => api.stats['prompt-cache'].$get({ query }));
};

export const useCache = (query: StatsQuery, enabled = true) =>
  useStats(['stats', 'cache', query], () => api.stats.cache.$get({ query: grouped(query) }), enabled);

export const useErrors = (query: StatsQuery, enabled = true) =>
  useStats(['stats', 'errors', query], () => api.stats.errors.$get({ query: grouped(query) }), enabled);

/** Answers and failures of each provider. */
export const useProviderHealth = (query: StatsQuery) =>
  useStats(['stats', 'health', query], () => api.stats.health.$get({ query: { ...query } }));

/** Requests by duration, over all and by interval. */
export const useHistogram = (query: StatsQuery, metric: Metric) => {
  const asked = { ...query, metric };
  return useStats(['stats', 'histogram', asked], () => api.stats.histogram.$get({ query: asked }));
};

export type Differences = AnswerFrom<typeof api.stats.differences.$get>;

interface DifferenceQuery extends Pick<StatsQuery, 'from' | 'to' | 'project_id'> {
  readonly region_from: string;
  readonly region_to: string;
  readonly min_ms: string;
  readonly max_ms: string;
  readonly metric: Metric;
}

/** What tells the requests of a region from all others. */
export const useDifferences = (query: DifferenceQuery) =>
  useStats(['stats', 'differences', query], () => api.stats.differences.$get({ query: { ...query } }));

export type Flows = AnswerFrom<typeof api.stats.flows.$get>;

/** Ways of requests: project, requested model, provider. */
export const useFlows = ({ from, to, project_id }: StatsQuery) => {
  const query = { from, to, project_id };
  return useStats(['stats', 'flows', query], () => api.stats.flows.$get({ query }));
};

/** Switches between targets, equal ones together. */
export const useFailovers = ({ from, to, project_id }: StatsQuery) => {
  const query = { from, to, project_id };
  return useStats(['stats', 'failovers', query], () => api.stats.failovers.$get({ query }));
};

export const useBudgets = (query: { project_id?: string; scope?: Budget['scope']; limit?: string }) =>
  useStats(['budgets', query], () => api.budgets.$get({ query }));

/** Tightest budgets of the overview, by used share. */
const TIGHTEST = '20';

/** Those nearest to their end. */
export const useTightBudgets = (projectId: string | undefined) =>
  useBudgets({ limit: TIGHTEST, ...(projectId === undefined ? {} : { project_id: projectId }) });

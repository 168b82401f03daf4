import { keepPreviousData, type QueryKey, useQuery } from '@tanstack/react-query';
import type { InferResponseType } from 'hono/client';
import { api, read } from './client';

export type Overview = InferResponseType<typeof api.stats.overview.$get>;
export type SpendBucket = InferResponseType<typeof api.stats.spend.$get>['buckets'][number];
export type LatencyBucket = InferResponseType<typeof api.stats.latency.$get>['buckets'][number];
export type CacheBucket = InferResponseType<typeof api.stats.cache.$get>['buckets'][number];
export type ErrorBucket = InferResponseType<typeof api.stats.errors.$get>['buckets'][number];
export type Budget = InferResponseType<typeof api.budgets.$get>['data'][number];

/** As the API takes it; everything is text in an address. */
export interface StatsQuery {
  readonly from: string;
  readonly to: string;
  readonly project_id?: string;
  readonly interval?: string;
  readonly group_by?: string;
  readonly top?: string;
}

const REFRESH_MS = 30_000;

/** Seconds, as an interval of the API. */
export const asInterval = (ms: number): string => String(ms / 1000);

/** Numbers of a range, read again every now and then; those before stay until others are there. */
const useStats = <T>(queryKey: QueryKey, ask: () => Promise<{ json(): Promise<T> }>, enabled = true) =>
  useQuery({
    queryKey,
    queryFn: () => read(ask()),
    enabled,
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });

export const useOverview = (query: StatsQuery) =>
  useStats(['stats', 'overview', query], () => api.stats.overview.$get({ query: { ...query } }));

type Grouped = Omit<StatsQuery, 'group_by'> & { group_by?: 'model' };

/** The client's types know the fixed names of groups only; `label.<name>` is one too. */
const grouped = (query: StatsQuery) => ({ ...query }) as Grouped;

export const useSpend = (query: StatsQuery, enabled = true) =>
  useStats(['stats', 'spend', query], () => api.stats.spend.$get({ query: grouped(query) }), enabled);

export type Metric = 'latency' | 'ttft' | 'upstream' | 'overhead';

/** Of all durations, or of one: then those of the others are null. */
export const useLatency = (query: StatsQuery, metric?: Metric) => {
  const asked = { ...grouped(query), ...(metric === undefined ? {} : { metric }) };
  return useStats(['stats', 'latency', asked], () => api.stats.latency.$get({ query: asked }));
};

export const useCache = (query: StatsQuery) =>
  useStats(['stats', 'cache', query], () => api.stats.cache.$get({ query: grouped(query) }));

export const useErrors = (query: StatsQuery) =>
  useStats(['stats', 'errors', query], () => api.stats.errors.$get({ query: grouped(query) }));

export const useHistogram = (query: StatsQuery, metric: Metric) => {
  const asked = { ...query, metric };
  return useStats(['stats', 'histogram', asked], () => api.stats.histogram.$get({ query: asked }));
};

export const useBudgets = (query: { project_id?: string; limit?: string }) =>
  useStats(['budgets', query], () => api.budgets.$get({ query }));

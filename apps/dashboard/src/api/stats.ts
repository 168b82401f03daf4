import { keepPreviousData, useQuery } from '@tanstack/react-query';
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
  readonly api_key_id?: string;
  readonly model?: string;
  readonly provider?: string;
  readonly customer_id?: string;
  readonly interval?: string;
  readonly group_by?: string;
  readonly top?: string;
}

const REFRESH_MS = 30_000;
const shared = { placeholderData: keepPreviousData, refetchInterval: REFRESH_MS };

/** Seconds, as an interval of the API. */
export const asInterval = (ms: number): string => String(ms / 1000);

export const useOverview = (query: StatsQuery) =>
  useQuery({
    queryKey: ['stats', 'overview', query],
    queryFn: () => read(api.stats.overview.$get({ query: { ...query } })),
    ...shared,
  });

type Grouped = Omit<StatsQuery, 'group_by'> & { group_by?: 'model' };

/** The client's types know the fixed names of groups only; `label.<name>` is one too. */
const grouped = (query: StatsQuery) => ({ ...query }) as Grouped;

export const useSpend = (query: StatsQuery, enabled = true) =>
  useQuery({
    queryKey: ['stats', 'spend', query],
    queryFn: () => read(api.stats.spend.$get({ query: grouped(query) })),
    enabled,
    ...shared,
  });

/** Of all durations, or of one: then those of the others are null. */
export const useLatency = (query: StatsQuery, metric?: Metric) =>
  useQuery({
    queryKey: ['stats', 'latency', query, metric],
    queryFn: () =>
      read(api.stats.latency.$get({ query: { ...grouped(query), ...(metric === undefined ? {} : { metric }) } })),
    ...shared,
  });

export const useCache = (query: StatsQuery) =>
  useQuery({
    queryKey: ['stats', 'cache', query],
    queryFn: () => read(api.stats.cache.$get({ query: grouped(query) })),
    ...shared,
  });

export const useErrors = (query: StatsQuery) =>
  useQuery({
    queryKey: ['stats', 'errors', query],
    queryFn: () => read(api.stats.errors.$get({ query: grouped(query) })),
    ...shared,
  });

export type Metric = 'latency' | 'ttft' | 'upstream' | 'overhead';

export const useHistogram = (query: StatsQuery, metric: Metric) =>
  useQuery({
    queryKey: ['stats', 'histogram', query, metric],
    queryFn: () => read(api.stats.histogram.$get({ query: { ...query, metric } })),
    ...shared,
  });

export const useBudgets = (query: { project_id?: string; limit?: string }) =>
  useQuery({ queryKey: ['budgets', query], queryFn: () => read(api.budgets.$get({ query })), ...shared });

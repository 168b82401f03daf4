import { useQuery } from '@tanstack/react-query';
import type { InferResponseType } from 'hono/client';
import { api, read } from './client';
import { usePages } from './pages';

export type Log = InferResponseType<typeof api.logs.$get>['data'][number];

const PAGE_SIZE = '100';
const TAIL_MS = 2000;

/** Requests, newest first, page by page; while `isLive`, the first page is read again every two seconds. */
export const useLogs = (query: Record<string, string>, isLive: boolean) =>
  usePages({
    queryKey: ['logs', query, isLive],
    readPage: (at) => read(api.logs.$get({ query: { ...query, limit: PAGE_SIZE, ...at } })),
    refetchInterval: isLive ? TAIL_MS : false,
  });

/** The newest few, for estimates that roll-ups do not hold. */
export const useLogSample = (query: Record<string, string>) =>
  useQuery({
    queryKey: ['logs', 'sample', query],
    queryFn: () => read(api.logs.$get({ query: { ...query, limit: '1000' } })),
  });

export const useLog = (requestId: string) =>
  useQuery({
    queryKey: ['logs', 'one', requestId],
    queryFn: async () => (await read(api.logs.$get({ query: { request_id: requestId } }))).data[0] ?? null,
  });

export const useLogBodies = (requestId: string) =>
  useQuery({
    queryKey: ['logs', 'bodies', requestId],
    retry: false,
    queryFn: () => read(api.logs[':request_id'].bodies.$get({ param: { request_id: requestId } })),
  });

import type { AnswerFrom } from '@llm0/gateway/admin/route-types';
import {
  type InfiniteData,
  keepPreviousData,
  type QueryClient,
  type QueryKey,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { ApiError, api, read } from './client';
import { useIsLive, useLive } from './live';
import { usePages } from './pages';
import { placeRows } from './place-rows';

export type Log = AnswerFrom<typeof api.logs.$get>['data'][number];

export const PAGE_SIZE = 100;
const AGAIN_MS = 10_000;
const WAIT_MS = 50;

type LogPages = InfiniteData<AnswerFrom<typeof api.logs.$get>>;

/** Query of the API; several values form a list. */
export type LogQuery = Readonly<Record<string, string | string[]>>;

/** Beyond it, the list restarts with its first page. */
const MAX_TAIL = 1000;
/** The stream starts this far back; a list loaded earlier reloads. */
const LOOK_BACK_MS = 25_000;

/** Requests, newest first, by page; while `isLive`, only new rows arrive. */
export function useLogs(query: LogQuery, isLive: boolean) {
  const queryKey = ['logs', 'pages', query, isLive];
  const pages = usePages({
    queryKey,
    readPage: (at) => read(api.logs.$get({ query: { ...query, limit: String(PAGE_SIZE), ...at } })),
    isFresh: isLive,
  });
  const client = useQueryClient();
  const beginAnew = () => void client.resetQueries({ queryKey });
  // Keeps watching a reloaded list: restarting the stream would cause endless reloads.
  const wasRead = useRef(false);
  wasRead.current ||= pages.isSuccess;
  const isBeginning = useRef(false);
  const isTold = useLive<{ rows: readonly Log[] }>({
    topic: 'logs',
    query,
    isOn: isLive && wasRead.current,
    onHello: (resumed) => {
      isBeginning.current = !resumed;
      const readMs = client.getQueryState(queryKey)?.dataUpdatedAt ?? 0;
      if (!resumed && readMs > 0 && Date.now() - readMs > LOOK_BACK_MS) beginAnew();
    },
    // Too many rows arrived just before the start: reloads all loaded pages and keeps them visible.
    onReset: () => {
      if (isBeginning.current) void readAgain(client, queryKey);
      else beginAnew();
      isBeginning.current = false;
    },
    onNews: ({ rows }) => {
      isBeginning.current = false;
      const before = client.getQueryData<LogPages>(queryKey);
      const pages = placeRows(before?.pages ?? [], rows);
      if ((pages[0]?.data.length ?? 0) > MAX_TAIL) beginAnew();
      else if (before !== undefined && pages !== before.pages)
        client.setQueryData<LogPages>(queryKey, { ...before, pages: [...pages] });
    },
  });
  // Without the stream, the list reloads as a whole at intervals.
  useQuery({
    queryKey: ['logs', 'again', query],
    enabled: isLive && pages.isSuccess && !isTold,
    refetchInterval: AGAIN_MS,
    initialData: null,
    staleTime: AGAIN_MS,
    queryFn: () => client.refetchQueries({ queryKey }).then(() => null),
  });
  return pages;
}

/**
 * A search that took too long goes on by itself until it has a page of rows, so that it covers the whole range. It ends
 * if an answer came no further than the one before.
 */
export function useSearchOn(logs: ReturnType<typeof useLogs>, isSorted: boolean): boolean {
  const { data, hasNextPage, isFetching, fetchNextPage } = logs;
  const reached = useRef<string | undefined>(undefined);
  const until = data?.last?.partial_from;
  const isShort = !isSorted && hasNextPage && until !== undefined && data !== undefined && data.rows.length < PAGE_SIZE;
  useEffect(() => {
    if (!isShort || isFetching || reached.current === until) return;
    reached.current = until;
    void fetchNextPage();
  }, [isShort, isFetching, until, fetchNextPage]);
  return isShort && isFetching;
}

/** Reloads all loaded pages after the page under way, which would be lost otherwise. */
async function readAgain(client: QueryClient, queryKey: QueryKey): Promise<void> {
  while (client.isFetching({ queryKey }) > 0) await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
  await client.refetchQueries({ queryKey });
}

/** The newest thousand, for fields that roll-ups lack; undefined = asks nothing. */
export const useLogSample = (query: LogQuery | undefined) =>
  useQuery({
    queryKey: ['logs', 'sample', query],
    enabled: query !== undefined,
    queryFn: () => read(api.logs.$get({ query: { ...query, limit: '1000' } })),
  });

/** One request; null if missing. `known`: its row in a list, shown until the answer comes. */
export const useLog = (requestId: string, known?: Log) =>
  useQuery({
    queryKey: ['logs', 'one', requestId],
    placeholderData: known,
    queryFn: async () => {
      try {
        return await read(api.logs[':request_id'].$get({ param: { request_id: requestId } }));
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return null;
        throw error;
      }
    },
  });

/** Interval without reports of arriving rows. */
const COUNT_REFRESH_MS = 30_000;

export type LogTally = AnswerFrom<typeof api.logs.histogram.$get>;

/** Count of matching requests, by time and status. */
export function useLogTally(query: LogQuery, intervalMs: number) {
  const isTold = useIsLive();
  return useQuery({
    queryKey: ['logs', 'tally', query, intervalMs],
    queryFn: () => read(api.logs.histogram.$get({ query: { ...query, interval: String(intervalMs / 1000) } })),
    placeholderData: keepPreviousData,
    refetchInterval: isTold ? false : COUNT_REFRESH_MS,
  });
}

/** Number of items, exact or a lower bound. */
export function useLogTotal(query: LogQuery) {
  const isTold = useIsLive();
  return useQuery({
    queryKey: ['logs', 'count', query],
    queryFn: async () => (await read(api.logs.$get({ query: { ...query, limit: '1', count: 'true' } }))).count,
    placeholderData: keepPreviousData,
    refetchInterval: isTold ? false : COUNT_REFRESH_MS,
  });
}

/** Values of a field to filter by. */
export const useSuggestions = (asked: { readonly field: string; readonly q: string } | null, projectId?: string) =>
  useQuery({
    queryKey: ['logs', 'suggestions', asked, projectId],
    enabled: asked !== null,
    queryFn: () => {
      const { field = 'model', q = '' } = asked ?? {};
      const query = { field: field as 'model', ...(q === '' ? {} : { q }), project_id: projectId };
      return read(api.logs.suggestions.$get({ query }));
    },
    placeholderData: keepPreviousData,
  });

/** Prompt and answer of a request; null if they are not kept. */
export async function readBodies(requestId: string) {
  const at = { param: { request_id: requestId }, query: { missing: 'empty' as const } };
  const answer = await api.logs[':request_id'].bodies.$get(at);
  return answer.status === 204 ? null : answer.json();
}

export const useLogBodies = (requestId: string, mayRead: boolean) =>
  useQuery({
    enabled: mayRead,
    queryKey: ['logs', 'bodies', requestId],
    retry: false,
    queryFn: () => readBodies(requestId),
  });

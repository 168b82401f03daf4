import { onlineManager, type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useRef, useSyncExternalStore } from 'react';
import { ApiError, api, read } from './client';
import { useIsLive, useLive } from './live';

/** Answers of proxies before a gateway that is not there. */
const GATEWAY_GONE = new Set([0, 502, 503, 504]);

/** Tells a gateway or database that doesn't answer from an invalid request. */
export const isAway = (error: unknown): error is ApiError =>
  error instanceof ApiError && GATEWAY_GONE.has(error.status);

/** State of a gateway that doesn't answer; null while it does. `updatedAtMs`: its last answer. */
export interface Away {
  readonly message: string;
  readonly updatedAtMs: number;
}

const PROBE_MS = 2000;
const AGAIN_MS = 5000;

/**
 * Asks as soon as the live stream breaks or the browser is offline, and until it is back: other queries may not ask for
 * half a minute.
 */
function useProbe(): void {
  const client = useQueryClient();
  const isLive = useIsLive();
  const wasLive = useRef(false);
  wasLive.current ||= isLive;
  const isOnline = useSyncExternalStore(watchOnline, () => onlineManager.isOnline());
  const isBroken = (wasLive.current && !isLive) || !isOnline;
  useQuery({
    queryKey: PROBE,
    queryFn: () => read(api.session.$get()),
    ...{ enabled: isBroken, refetchInterval: isBroken && PROBE_MS, retry: false, staleTime: 0, gcTime: 0 },
  });
  useEffect(() => {
    if (isLive && isOnline) void client.resetQueries({ queryKey: PROBE });
  }, [client, isLive, isOnline]);
}

const watchOnline = (notify: () => void) => onlineManager.subscribe(notify);

const PROBE = ['probe'];

/** Asks again whatever was not answered. */
export const askAgain = (client: QueryClient): void =>
  void client.refetchQueries(
    { type: 'active', predicate: ({ state }) => isAway(state.error) },
    { cancelRefetch: false },
  );

/** Watches the page's queries for an outage, and asks again until it is over. */
export function useAway(): Away | null {
  const client = useQueryClient();
  useProbe();
  const subscribe = useCallback((notify: () => void) => client.getQueryCache().subscribe(notify), [client]);
  const told = useSyncExternalStore(subscribe, () => describe(client));
  const isTold = told !== '';
  useEffect(() => {
    if (!isTold) return;
    const timer = setInterval(() => askAgain(client), AGAIN_MS);
    return () => clearInterval(timer);
  }, [client, isTold]);
  return told === '' ? null : (JSON.parse(told) as Away);
}

/** Text, so that equal states compare equal. */
function describe(client: QueryClient): string {
  const queries = client.getQueryCache().getAll();
  const failed = queries.find((query) => query.getObserversCount() > 0 && isAway(query.state.error));
  if (failed === undefined) return '';
  const updatedAtMs = Math.max(0, ...queries.map(({ state }) => state.dataUpdatedAt));
  return JSON.stringify({ message: failed.state.error?.message ?? '', updatedAtMs } satisfies Away);
}

const STATUS_MS = 10_000;

/** Open breakers and stores that are away. */
export function useStatus() {
  const client = useQueryClient();
  const isTold = useLive({ topic: 'status', onNews: (status: object) => client.setQueryData(['status'], status) });
  const refetchInterval = isTold ? false : STATUS_MS;
  return useQuery({ queryKey: ['status'], queryFn: () => read(api.status.$get()), refetchInterval });
}

/** The session's roles don't permit it. */
export const isForbidden = (error: Error | null): boolean =>
  error instanceof ApiError && error.code === 'permission_denied';

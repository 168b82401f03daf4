import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useSyncExternalStore } from 'react';
import { LiveConnection, type Subscription, type Topic } from './live-connection';
import { useSession } from './session';

const connections = new WeakMap<QueryClient, LiveConnection>();

function connectionOf(client: QueryClient): LiveConnection {
  const known = connections.get(client);
  if (known !== undefined) return known;
  const made = new LiveConnection(() => client.isFetching() > 0);
  connections.set(client, made);
  return made;
}

export interface LiveOptions<T> {
  readonly topic: Topic;
  readonly query?: Subscription['query'];
  readonly isOn?: boolean;
  readonly onNews: (news: T) => void;
  readonly onHello?: (resumed: boolean) => void;
  readonly onReset?: () => void;
}

/** Streams news of a topic while the page is visible. Returns true while the stream works; otherwise poll. */
export function useLive<T>({ topic, query = {}, isOn = true, ...handlers }: LiveOptions<T>): boolean {
  const connection = connectionOf(useQueryClient());
  const mayWatch = useMayWatch(topic);
  const latest = useRef(handlers);
  latest.current = handlers;
  const asked = JSON.stringify(query);
  useEffect(() => {
    if (!isOn || !mayWatch) return;
    const subscription: Subscription = {
      topic,
      query: JSON.parse(asked),
      onNews: (news: T) => latest.current.onNews(news),
      onHello: (resumed) => latest.current.onHello?.(resumed),
      onReset: () => latest.current.onReset?.(),
    } as Subscription;
    return connection.add(subscription);
  }, [connection, topic, asked, isOn, mayWatch]);
  return useIsLive() && isOn && mayWatch;
}

/** What tells of all projects at once is not for people of single teams. */
function useMayWatch(topic: Topic): boolean {
  const { data: session } = useSession();
  if (session == null || session.is_everywhere) return true;
  const needed = topic === 'logs' ? 'read_logs' : topic === 'overview' ? 'read_stats' : 'read_system';
  return session.permissions.includes(needed);
}

/** Connection of the page, for components that only need row arrivals. */
export const useRowsToldOf = (): Pick<LiveConnection, 'isQuietSince' | 'onRows'> => connectionOf(useQueryClient());

/** True while the live stream reports changes. */
export function useIsLive(): boolean {
  const connection = connectionOf(useQueryClient());
  return useSyncExternalStore(connection.listen, () => connection.isLive);
}

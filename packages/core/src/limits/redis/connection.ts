import { Cluster, type ClusterOptions, Redis, type RedisOptions } from 'ioredis';
import { LEASE_MS } from '../hold';
import type { LostData } from './epoch';
import { defineScripts, type RedisClient } from './scripts';

export interface RedisConnectionOptions {
  /** redis:// or rediss://; on a cluster any of its nodes, several separated by commas. */
  readonly url: string;
  readonly password?: string;
  readonly db?: number;
  readonly cluster?: boolean;
  /** Lease of a hold; another one is for tests only, and the same in every process. */
  readonly leaseMs?: number;
}

export interface RedisHotStoreOptions extends RedisConnectionOptions {
  /** First part of every key. */
  readonly namespace?: string;
  /** Folder for settlements that Redis refuses. */
  readonly dataDir: string;
  /** Log entries the queue may hold before admissions are refused. */
  readonly queueMaxEntries?: number;
  readonly cacheMaxBytes?: number;
  /** Time-out of an admission. */
  readonly admitDeadlineMs?: number;
  /** Time-out of `start` for Redis and rows. */
  readonly startTimeoutMs?: number;
  /** Epoch milliseconds instead of the server's clock: for tests only. */
  readonly clock?: () => number;
  readonly newId?: () => string;
  /** Called after the counters of a lost store are rebuilt. */
  readonly onDataLost?: (lost: LostData) => void;
}

/**
 * A connection that never sends anything twice: no offline queue, resending or auto-pipelining. Only the caller knows
 * which commands may run again after a lost reply.
 */
export function connectRedis(options: RedisConnectionOptions, name: string): RedisClient {
  const shared: RedisOptions = {
    connectionName: name,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    enableAutoPipelining: false,
    connectTimeout: 2_000,
    retryStrategy: (times) => Math.min(25 * 2 ** Math.min(times, 5), 500),
    ...(options.password === undefined ? {} : { password: options.password }),
  };
  const client = openClient(options, shared);
  // Failures reach the callers through their commands; without a listener ioredis prints each of them.
  client.on('error', () => undefined);
  defineScripts(client, options.leaseMs ?? LEASE_MS);
  return client;
}

type OpenRedis = new (url: string, options: RedisOptions) => Redis;
type OpenCluster = new (nodes: string[], options: ClusterOptions) => Cluster;

/** Opens a connection. With ioredis' own constructor, the compiler compares every overload of every command (0.7 s). */
export const openRedis = (url: string, options: RedisOptions = {}): Redis =>
  new (Redis as unknown as OpenRedis)(url, options);

function openClient({ url, db, cluster }: RedisConnectionOptions, shared: RedisOptions): RedisClient {
  if (!cluster) return openRedis(url, { ...shared, ...(db === undefined ? {} : { db }), lazyConnect: true });
  return new (Cluster as unknown as OpenCluster)(url.split(','), {
    enableOfflineQueue: false,
    // Re-sends after a closed connection, which an admission must not do.
    retryDelayOnFailover: 0,
    clusterRetryStrategy: (times) => Math.min(50 * times, 500),
    slotsRefreshTimeout: 2_000,
    redisOptions: shared,
  });
}

/** Resolves when the client is ready; throws after `timeoutMs`. */
export async function waitForReady(client: RedisClient, timeoutMs: number): Promise<void> {
  if (client.status === 'ready') return;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(() => reject(new Error(`Redis is not reachable within ${timeoutMs} ms`)), timeoutMs);
  client.once('ready', resolve);
  if (client.status === 'wait') client.connect().catch(() => undefined);
  try {
    await promise;
  } finally {
    clearTimeout(timer);
    client.off('ready', resolve);
  }
}

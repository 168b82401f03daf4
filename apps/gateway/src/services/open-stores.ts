import { EmbeddedHotStore } from '@llm0/core/limits/embedded/embedded-hot-store';
import type { HotStore, RebuildSource } from '@llm0/core/limits/hot-store';
import type { LostData } from '@llm0/core/limits/redis/epoch';
import { RedisHotStore } from '@llm0/core/limits/redis/redis-hot-store';
import { noObserver } from '@llm0/core/tracing/span';
import type { Database } from '@llm0/drizzle/client';
import { openDatabase } from '@llm0/drizzle/open-database';
import { membersOf } from '@llm0/drizzle/queries/access/levels';
import { sumBudget } from '@llm0/drizzle/queries/limits/sum-budget';
import { findLostRequests, findStoredRequests } from '@llm0/drizzle/queries/log-lines/stored-requests';
import { storeLogRecords } from '@llm0/drizzle/queries/logs/log-insert';
import { addSystemLog } from '@llm0/drizzle/queries/logs/system-logs';
import { loadSpend } from '@llm0/drizzle/queries/stats/read/spend-sums';
import type { Config } from '../config/config';
import { createWallClock, type WallClock } from '../process/wall-clock';
import { checkRedis, explainPostgres } from './check-stores';

/** State that outlives a request, and its clock. */
export interface Stores {
  readonly database: Database;
  /** Start it after the database. */
  readonly hotStore: HotStore;
  readonly clock: WallClock;
  close(): Promise<void>;
}

/** Redis and Postgres, or the embedded stores. */
export async function openStores(
  config: Config,
  { dataDir, onWarning }: { readonly dataDir: string; readonly onWarning: (message: string) => void },
): Promise<Stores> {
  const { databaseUrl, redis } = config;
  if (redis !== undefined) await checkRedis(redis, onWarning);
  const database = await openDatabase({
    databaseUrl,
    socketPath: config.testing.postgresSocket,
    dataDir,
    onWarning,
  }).catch((error: unknown) => {
    throw explainPostgres(databaseUrl, error);
  });
  const clock = createWallClock(config.testing.clockFile);
  const onDataLost = ({ restored }: LostData) => {
    const message = `Redis has lost its data. Counters are those of the rows again, and ${restored} open requests under strict caps are held again.`;
    onWarning(message);
    const entry = {
      eventType: 'hot_store_lost',
      outcome: 'error',
      durationMs: null,
      message,
      metadata: { restored },
    } as const;
    addSystemLog(database.db, entry).catch((error: unknown) => onWarning(`hot_store_lost is not in the log: ${error}`));
  };
  const hotStore = createHotStore(config, { dataDir, clock, onDataLost });
  const close = async () => {
    clock.stop();
    await hotStore.close();
    await database.close();
  };
  return { database, hotStore, clock, close };
}

interface HotStoreNeeds {
  readonly dataDir: string;
  readonly clock: WallClock;
  readonly onDataLost: (lost: LostData) => void;
}

function createHotStore(config: Config, { dataDir, clock, onDataLost }: HotStoreNeeds): HotStore {
  const { clockFile, leaseMs, admitDeadlineMs } = config.testing;
  const shared = { dataDir, cacheMaxBytes: config.cacheMaxBytes, leaseMs };
  // Redis has a clock of its own.
  const shifted = clockFile === undefined ? {} : { clock: () => clock.nowMs() };
  if (config.redis === undefined) return new EmbeddedHotStore({ ...shared, ...shifted });
  return new RedisHotStore({ ...shared, ...shifted, ...config.redis, admitDeadlineMs, onDataLost });
}

/** Data to rebuild a hot store from. */
export function rebuildSource({ db }: Database, observer = noObserver): RebuildSource {
  return {
    storeRecords: async (records) => {
      await storeLogRecords(db, records, { onWritten: (stored) => observer.take(stored) });
    },
    loadSpend: (nowMs) => loadSpend(db, nowMs),
    membersOf: (owner) => membersOf(db, owner),
    sumBudget: (sum) => sumBudget(db, sum),
    findStored: (requests) => findStoredRequests(db, requests),
    findLost: (requests) => findLostRequests(db, requests),
  };
}

export async function databaseHealth(
  database: Database,
): Promise<{ ok: boolean; latencyMs?: number; detail?: string }> {
  try {
    return { ok: true, latencyMs: await database.ping() };
  } catch (error) {
    return { ok: false, detail: error instanceof Error ? error.message : String(error) };
  }
}

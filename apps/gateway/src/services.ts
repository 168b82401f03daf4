import { mkdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { IdempotentAnswers } from '@llm0/core/cache/idempotency/idempotent-answers';
import { STORED_ANSWER_CODEC } from '@llm0/core/cache/stored-answer';
import { STORED_EMBEDDINGS_CODEC } from '@llm0/core/cache/stored-embedding';
import { StoredWarmCache } from '@llm0/core/cache/warm-cache';
import { KeptAnswers } from '@llm0/core/conversations/kept-answers';
import { LocalEmbedder } from '@llm0/core/embedding/local-embedder';
import { SHIPPED_MODEL } from '@llm0/core/embedding/shipped-model';
import { KeyCache } from '@llm0/core/keys/key-cache';
import { EmbeddedHotStore } from '@llm0/core/limits/embedded/embedded-hot-store';
import type { HotStore, RebuildSource } from '@llm0/core/limits/hot-store';
import { RedisHotStore } from '@llm0/core/limits/redis/redis-hot-store';
import { type BodyLog, noBodyLog, StoredBodyLog } from '@llm0/core/logs/body-log';
import type { Database } from '@llm0/drizzle/client';
import { openDatabase } from '@llm0/drizzle/open-database';
import { findPrincipalByHash } from '@llm0/drizzle/queries/access/find-principal';
import { createWarmStore } from '@llm0/drizzle/queries/caches/exact-cache';
import { createIdempotencyStore } from '@llm0/drizzle/queries/caches/idempotency-keys';
import { createKeptAnswerStore } from '@llm0/drizzle/queries/caches/kept-answers';
import { writeLogBodies } from '@llm0/drizzle/queries/logs/log-bodies';
import { findLostRequests, findStoredRequests, storeLogRecords } from '@llm0/drizzle/queries/logs/log-insert';
import { seedPrices } from '@llm0/drizzle/queries/routing/model-pricing';
import { loadSpend } from '@llm0/drizzle/queries/spend-sums';
import { createProviderRegistry } from '@llm0/providers/registry';
import { readEgressAllow } from '@llm0/providers/transport/egress-allow';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { Config } from './config/config';
import { Activity } from './observe/activity';
import { Metrics } from './observe/metrics';
import { createPostWebhook } from './observe/post-webhook';
import { sampleLoopLag } from './observe/sample-loop-lag';
import { LeaseKeeper } from './pipeline/ledger/lease-keeper';
import { FlightTable } from './pipeline/upstream/flight';
import { openVault } from './process/open-vault';
import { createWallClock, type WallClock } from './process/wall-clock';
import { ProviderConnections } from './providers/connections';
import { readPresetChains } from './providers/preset-chains';
import { readPriceSeed } from './providers/price-seed';
import { ProviderDesk } from './providers/provider-admin';
import { Tables } from './providers/tables';
import { createSemanticCache } from './services/create-semantic-cache';
import { createTargetHealth } from './services/create-target-health';
import type { DowngradeModels, Services, StoreClock } from './services-type';
import { StatsThread } from './stats/thread';

/** The services together with what only the start and the drain need. */
export interface RunningServices {
  readonly services: Services;
  readonly database: Database;
  readonly tables: Tables;
  readonly providerDesk: ProviderDesk;
  /** Absent where the database is embedded: that serves one connection at a time. */
  readonly statsThread: StatsThread | undefined;
  close(): Promise<void>;
}

/** How long the last cache entries and bodies may take to be written at the end. */
const FLUSH_TIMEOUT_MS = 2000;
const DAY_MS = 86_400_000;
/** Longest time an operator waits for the test of a provider. */
const MAX_TEST_MS = 15_000;

/** The one place where everything is built and wired; a part that fails closes what was already open. */
export async function createServices(config: Config, log: Logger, version: string): Promise<RunningServices> {
  const startedMs = performance.now();
  const dataDir = resolve(config.dataDir);
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const onWarning = (message: string) => log.warn(message);
  const presets = await readPresetChains();
  const egress = readEgressAllow(config.egressAllow);
  const registry = createProviderRegistry();
  const vault = await openVault(config, dataDir);
  const monotonicMs = () => performance.now();
  const database = await openDatabase({ databaseUrl: config.databaseUrl, dataDir, onWarning });
  const clock = createWallClock(config.testing.clockFile);
  const hotStore = createHotStore(config, dataDir, clock);
  const metrics = new Metrics();
  const health = createTargetHealth(config, ({ provider, model }) => {
    metrics.breakerOpened.inc({ provider, model });
    log.warn({ provider, model }, 'too many failures: this target is asked last for a while');
  });
  const connections = new ProviderConnections({ config, registry, vault, egress, fetch, monotonicMs, log });
  const tables = new Tables({ db: database.db, config, connections, fetch, log, presets, health });
  const close = async () => {
    clock.stop();
    health.stop();
    tables.stop();
    await hotStore.close();
    await database.close();
  };
  try {
    const seed = await readPriceSeed();
    await seedPrices(database.db, seed.models, seed.hash);
    await Promise.all([tables.start(), hotStore.start(rebuildSource(database))]);
  } catch (error) {
    await close();
    throw error;
  }
  hotStore.onNotify((topic) => {
    if (topic === 'tables')
      tables.reload().catch((err: unknown) => log.warn({ err }, 'tables could not be read again'));
  });
  const leases = new LeaseKeeper({ hotStore, log, nowMs: Date.now, leaseMs: config.testing.leaseMs });
  leases.start();
  health.start();
  const stopSampling = sampleLoopLag(
    (lagMs) => metrics.loopLagMs.observe(lagMs),
    () => performance.now(),
  );
  const storeClock = createStoreClock(() => clock.nowMs());
  const warmCache = new StoredWarmCache({
    deadlineMs: config.testing.lookUpDeadlineMs,
    store: createWarmStore(database.db),
    nowMs: storeClock.nowMs,
    onLookUp: (outcome, ms) => metrics.observeWarmLookUp(outcome, ms),
    onDrop: (entries) => metrics.warmDrops.inc(entries),
  });
  const builtInEmbedder = new LocalEmbedder({
    ...SHIPPED_MODEL,
    onBroken: (reason) => log.warn({ reason }, 'the built-in embedder broke'),
  });
  const semantic = await createSemanticCache({
    ...{ config, database, metrics, log },
    shipped: builtInEmbedder,
    fetch: globalThis.fetch,
    nowMs: storeClock.nowMs,
  });
  const keptAnswers = new KeptAnswers({
    store: createKeptAnswerStore(database.db),
    nowMs: storeClock.nowMs,
    retentionMs: config.responsesRetentionDays * DAY_MS,
    maxBytes: config.maxBodyBytes,
    onDrop: (answers) => metrics.keptAnswerDrops.inc(answers),
  });
  const claims = { store: createIdempotencyStore(database.db), leaseMs: config.testing.leaseMs };
  const idempotency = new IdempotentAnswers({ ...claims, codec: STORED_ANSWER_CODEC });
  const idempotentEmbeddings = new IdempotentAnswers({ ...claims, codec: STORED_EMBEDDINGS_CODEC });
  const bodyLog = createBodyLog(config, database, metrics);
  const { databaseUrl } = config;
  const statsThread = databaseUrl === undefined ? undefined : new StatsThread({ databaseUrl });
  const services: Services = {
    version,
    startedMs,
    config,
    clock: { nowMs: () => clock.nowMs(), monotonicMs: () => performance.now() },
    createId: () => Bun.randomUUIDv7(),
    fetch: globalThis.fetch,
    egress,
    postWebhook: createPostWebhook({ fetch: globalThis.fetch, egress }),
    log,
    metrics,
    hotStore,
    warmCache,
    semanticCache: semantic.cache,
    builtInEmbedder,
    bodyLog,
    keptAnswers,
    idempotency,
    idempotentEmbeddings,
    keyCache: new KeyCache({ source: { findByHash: (hash) => findPrincipalByHash(database.db, hash) } }),
    leases,
    flights: new FlightTable(),
    health,
    activity: new Activity(),
    routing: () => tables.current(),
    databaseHealth: () => databaseHealth(database),
    connect: (target, projectId) => tables.connect(target, projectId),
    downgradeModels: createDowngradeModels(),
    storeClock,
  };
  return {
    services,
    database,
    tables,
    statsThread,
    providerDesk: new ProviderDesk({
      registry,
      connections,
      vault,
      egress,
      fetch,
      testTimeoutMs: Math.min(config.requestTimeoutMs, MAX_TEST_MS),
    }),
    close: async () => {
      leases.stop();
      stopSampling();
      idempotency.stop();
      idempotentEmbeddings.stop();
      for (const writer of [warmCache, semantic.cache, bodyLog, keptAnswers]) {
        await writer.flush(FLUSH_TIMEOUT_MS);
        writer.stop();
      }
      builtInEmbedder.stop();
      statsThread?.stop();
      await semantic.close();
      await close();
    },
  };
}

function createHotStore(config: Config, dataDir: string, clock: WallClock): HotStore {
  const { clockFile, leaseMs, admitDeadlineMs } = config.testing;
  const shared = { dataDir, cacheMaxBytes: config.cacheMaxBytes, leaseMs };
  // Redis has a clock of its own.
  const shifted = clockFile === undefined ? {} : { clock: () => clock.nowMs() };
  if (config.redis === undefined) return new EmbeddedHotStore({ ...shared, ...shifted });
  // What a dead reader had in hand comes back as soon as a dead request's hold does.
  return new RedisHotStore({ ...shared, ...shifted, ...config.redis, admitDeadlineMs, redeliverMs: leaseMs });
}

function createBodyLog(config: Config, database: Database, metrics: Metrics): BodyLog {
  if (!config.logBodies) return noBodyLog;
  return new StoredBodyLog({
    write: (bodies) => writeLogBodies(database.db, bodies),
    onDrop: (bodies) => metrics.bodyDrops.inc(bodies),
  });
}

function rebuildSource(database: Database): RebuildSource {
  return {
    storeRecords: async (records) => {
      await storeLogRecords(database.db, records);
    },
    loadSpend: (nowMs) => loadSpend(database.db, nowMs),
    findStored: (requests) => findStoredRequests(database.db, requests),
    findLost: (requests) => findLostRequests(database.db, requests),
  };
}

async function databaseHealth(database: Database): Promise<{ ok: boolean; latencyMs?: number; detail?: string }> {
  try {
    return { ok: true, latencyMs: await database.ping() };
  } catch (error) {
    return { ok: false, detail: error instanceof Error ? error.message : String(error) };
  }
}

const CUSTOMERS_REMEMBERED = 50_000;
const NONE = '';

function createDowngradeModels(): DowngradeModels {
  const models = new LRUCache<string, string>({ max: CUSTOMERS_REMEMBERED });
  const key = (projectId: string, customerId: string) => `${projectId} ${customerId}`;
  return {
    get: (projectId, customerId) => models.get(key(projectId, customerId)) || null,
    set: (projectId, customerId, model) => void models.set(key(projectId, customerId), model ?? NONE),
  };
}

function createStoreClock(nowMs: () => number): StoreClock {
  let offsetMs = 0;
  return {
    observe: (storeNowMs) => {
      offsetMs = storeNowMs - nowMs();
    },
    nowMs: () => nowMs() + offsetMs,
  };
}

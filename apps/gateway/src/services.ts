import { resolve } from 'node:path';
import { BodyDeadlines } from '@llm0/core/async/bounded-body';
import { backendProvider } from '@llm0/core/backends/backend';
import { GuardrailCompiler, type TextChecks } from '@llm0/core/guardrails/compile-guardrails';
import { KeyCache } from '@llm0/core/keys/key-cache';
import { levelIdsOf } from '@llm0/core/limits/budgets';
import { compileBudgets } from '@llm0/core/limits/compile-budgets';
import { LeaseKeeper } from '@llm0/core/limits/lease-keeper';
import { compileLevelLimits } from '@llm0/core/limits/level-limits';
import { OpenParts } from '@llm0/core/limits/open-parts';
import { RefusalFolder } from '@llm0/core/logs/fold-refusals';
import type { LogRecord } from '@llm0/core/logs/log-record';
import { isListed } from '@llm0/core/routing/routing-tables';
import { FlightTable } from '@llm0/core/upstream/flight-table';
import type { Database, Db } from '@llm0/drizzle/client';
import { claimFolder } from '@llm0/drizzle/embedded/private-folder';
import { keyRows } from '@llm0/drizzle/queries/access/api-keys';
import { findPrincipalByHash } from '@llm0/drizzle/queries/access/find-principal';
import { createRealtimeSecrets } from '@llm0/drizzle/queries/access/realtime-secrets';
import { listSinks } from '@llm0/drizzle/queries/logs/log-sinks';
import { createBoundedFetch } from '@llm0/providers/transport/bounded-fetch';
import { checkOperatorUrl } from '@llm0/providers/transport/egress/check-operator-url';
import { readEgressAllow } from '@llm0/providers/transport/egress/egress-allow';
import type { Logger } from 'pino';
import { BackendAdmin } from './backends/backend-admin';
import { createBackends } from './backends/create-backends';
import { createBatchParts } from './batches/parts';
import { type CodeMode, createCodeMode } from './code-mode/create-code-mode';
import type { Config } from './config/config';
import { openaiChat } from './dialects/openai-chat/index';
import type { Job } from './jobs/job';
import { createMcp } from './mcp/create-mcp';
import { McpAdmin } from './mcp/mcp-admin';
import type { McpParts } from './mcp/parts';
import { createJudge } from './mcp/servers/judge-tools';
import { Metrics } from './observe/metrics';
import { OpenRequests } from './observe/open-requests';
import { createPostWebhook } from './observe/post-webhook';
import { Readers } from './observe/readers';
import { sampleLoopLag } from './observe/sample-loop-lag';
import { createSendMail } from './observe/send-mail';
import { refreshGauges } from './observe/status-pages';
import { handleChat } from './pipeline/chat/handle-chat';
import { settleRecord } from './pipeline/metering/build-record';
import { FirstCredentials } from './process/first-credentials';
import { openVault } from './process/open-vault';
import { coalesceRuns } from './providers/coalesce-runs';
import { readPresetChains } from './providers/preset-chains';
import type { ProviderAdmin } from './providers/provider-admin';
import type { Tables } from './providers/tables';
import type { AnswerChat } from './services/ask-model';
import type { Services } from './services/contract';
import { createCaches } from './services/create-caches';
import { createGuardrailChecks } from './services/create-guardrail-checks';
import { createDowngradeModels, createStoreClock } from './services/create-memories';
import { createRouting, type Routing } from './services/create-routing';
import { createWarmNews } from './services/create-warm-news';
import { LegacyKeys } from './services/legacy-keys';
import { databaseHealth, openStores, rebuildSource } from './services/open-stores';
import { openTelemetry } from './services/open-telemetry';
import { RunBudgets } from './services/run-budgets';
import { createSignOnParts } from './sign-on/create-sign-on-parts';
import type { Issuers } from './sign-on/issuers';
import { createSinkJobs, hasSinks } from './sinks/create-sink-jobs';
import { RowsThread } from './threads/rows-thread';
import { StatsThread } from './threads/stats-thread';

const monotonicMs = performance.now.bind(performance);
/** Time for the collector to take the last spans. */
const TELEMETRY_FLUSH_MS = 5_000;

/** The services with hooks for start and shutdown. */
export interface RunningServices {
  readonly services: Services;
  readonly database: Database;
  readonly tables: Tables;
  readonly providerAdmin: ProviderAdmin;
  readonly mcpAdmin: McpAdmin;
  readonly backendAdmin: BackendAdmin;
  readonly checkUrl: (url: string) => Promise<void>;
  readonly issuers: Issuers;
  readonly guardrailChecks: TextChecks;
  /** Absent with an embedded database, which serves one connection at a time. */
  readonly statsThread: StatsThread | undefined;
  readonly rows: RowsThread | undefined;
  readonly firstCredentials: FirstCredentials;
  /** Jobs beside the usual ones. */
  readonly moreJobs: readonly Job[];
  close(): Promise<void>;
}

/** Builds and wires everything; a failure closes what is open. */
export async function createServices(config: Config, log: Logger, version: string): Promise<RunningServices> {
  const startedMs = performance.now();
  const fetch = createBoundedFetch(globalThis.fetch, config.maxResponseBytes);
  const base = await startBase({ config, log, fetch, version });
  const { database, hotStore, clock, metrics, routing, telemetry } = base;
  const { tables, health, turns, egress, providerAdmin, providerChecks } = routing;
  const storeClock = createStoreClock(clock.nowMs);
  const caching = await createCaches({ config, database, metrics, log, fetch, nowMs: storeClock.nowMs });
  const leases = new LeaseKeeper({ hotStore, log, nowMs: Date.now, leaseMs: config.testing.leaseMs, turns });
  leases.start();
  health.start();
  const stopSampling = sampleLoopLag((lagMs) => metrics.loopLagMs.observe(lagMs), monotonicMs);
  const { rows, statsThread } = createThreads(config, log);
  const firstCredentials = new FirstCredentials(database, config);
  const mcp = createTools({ ...base, config, log, fetch, version, monotonicMs });
  const codeMode = createScripts(caching.caches, log);
  const checkParts = { db: database.db, embedder: caching.caches.builtInEmbedder, fetch, egress };
  const guardrailChecks: TextChecks = createGuardrailChecks({ services: () => services, answerChat, ...checkParts });
  const services: Services = {
    ...{ version, startedMs, config, log, metrics, hotStore, leases, turns, health, storeClock, providerChecks },
    refusals: createRefusalFolder({ hotStore, metrics }, config),
    mediaEgress: readEgressAllow(config.mediaEgressAllow),
    ...caching.caches,
    clock: { nowMs: clock.nowMs, monotonicMs },
    createId: Bun.randomUUIDv7,
    ...{ tracing: telemetry.tracing, observer: telemetry.observer },
    ...{ fetch, postWebhook: createPostWebhook({ fetch, egress, sendMail: createSendMail(config.mail) }) },
    keyCache: createKeyCache(database.db, new GuardrailCompiler(guardrailChecks)),
    ...{ legacyKeys: new LegacyKeys(database.db), accessTokens: base.accessTokens },
    ...{ mcp, codeMode, realtimeSecrets: createRealtimeSecrets(database.db) },
    ...createBatchParts({ ...base, log }, config),
    backends: createBackends({ table: routing.backends, config, hotStore, monotonicMs }),
    nameKey: async (id) => (await keyRows.get(database.db, { id }))?.name,
    flights: new FlightTable(config.cacheMaxBodyBytes),
    ...{ openRequests: new OpenRequests(), bodyDeadlines: new BodyDeadlines(), openParts: new OpenParts() },
    readers: new Readers({ timeoutMs: config.slowReaderTimeoutMs }),
    routing: tables.current,
    refreshTables: base.refreshTables,
    databaseHealth: () => databaseHealth(database),
    logSinks: async () => (hasSinks(config) ? listSinks(database.db) : []),
    connect: tables.connect,
    downgradeModels: createDowngradeModels(),
    runs: new RunBudgets({ db: database.db, hotStore, clock: { nowMs: clock.nowMs, monotonicMs } }),
  };
  telemetry.start(() => refreshGauges(services));
  const parts = { firstCredentials, leases, codeMode, mcp, stopSampling, statsThread, rows, caching };
  const close = () => closeParts(config, base, parts);
  const mcpAdmin = createMcpAdmin({ ...base, mcp, config });
  const running = { services, database, tables, statsThread, rows, providerAdmin, mcpAdmin, firstCredentials, close };
  const moreJobs = await createSinkJobs(database.db, config.logSinks, {
    ...{ logDatabase: config.logDatabase, folder: config.dataDir, fetch, version, log, nowMs: () => clock.nowMs() },
    onRejected: (sink, rows) => {
      metrics.sinkRejected.inc({ sink }, rows);
      log.warn({ sink, rows }, 'a sink of the log rejected rows');
    },
  });
  const { issuers, checkUrl } = base;
  return { ...running, moreJobs, backendAdmin: createBackendAdmin(base), guardrailChecks, issuers, checkUrl };
}

/** Only this file connects checks and the pipeline. */
const answerChat: AnswerChat = (services, request, as) => handleChat(services, openaiChat, request, as);

interface ClosedParts
  extends Pick<Services, 'mcp' | 'codeMode'>,
    Pick<RunningServices, 'firstCredentials' | 'statsThread' | 'rows'> {
  readonly mcp: ReturnType<typeof createTools>;
  readonly leases: LeaseKeeper;
  readonly stopSampling: () => void;
  readonly caching: Awaited<ReturnType<typeof createCaches>>;
}

async function closeParts({ drainTimeoutMs }: Config, base: Base, parts: ClosedParts): Promise<void> {
  await parts.firstCredentials.close();
  parts.leases.stop();
  parts.codeMode.close();
  parts.mcp.close();
  parts.stopSampling();
  parts.statsThread?.stop();
  parts.rows?.stop();
  await parts.caching.close();
  // After the bodies, which spans may include.
  await base.telemetry.close(Math.min(TELEMETRY_FLUSH_MS, drainTimeoutMs));
  await base.close();
}

/** An embedded database serves one connection at a time: no thread can have its own. */
function createThreads({ databaseUrl, databaseEnv: env, logDatabase }: Config, log: Logger) {
  if (databaseUrl === undefined) return { rows: undefined, statsThread: undefined };
  const settings = (name: string) => ({
    ...{ databaseUrl, env, logDatabase },
    onBroken: (err: Error) => log.error({ err }, `the thread for ${name} broke; its next question starts another`),
  });
  return {
    rows: new RowsThread(settings('rows')),
    statsThread: new StatsThread(settings('charts')),
  };
}

type Base = Awaited<ReturnType<typeof startBase>>;

interface ToolParts extends Pick<Base, 'database' | 'hotStore' | 'routing' | 'vault' | 'clock'> {
  readonly config: Config;
  readonly log: Logger;
  readonly fetch: typeof globalThis.fetch;
  readonly version: string;
  readonly monotonicMs: () => number;
}

function createTools({ database, hotStore, routing, config, vault, clock, ...rest }: ToolParts) {
  const { egress, mcpServers: table } = routing;
  return createMcp({
    ...{ ...rest, egress, hotStore },
    servers: table.current,
    pinsOf: table.pinsOf,
    judge: createJudge({ db: database.db, table, monotonicMs: rest.monotonicMs, log: rest.log }),
    programs: config.mcpPrograms,
    ...{ db: database.db, vault, publicUrl: config.publicUrl, nowMs: () => clock.nowMs() },
  });
}

function createMcpAdmin({ mcp, config, vault }: Pick<ToolParts, 'config' | 'vault'> & { mcp: McpParts }) {
  const { registry, servers, oauth } = mcp;
  const mayRunServers = config.mcpPrograms !== undefined;
  return new McpAdmin({ registry, servers, consents: oauth.consents, vault, mayRunServers });
}

const createBackendAdmin = ({ routing, vault }: Base): BackendAdmin =>
  new BackendAdmin({ table: routing.backends, vault });

const createScripts = ({ builtInEmbedder: embedder }: Pick<Services, 'builtInEmbedder'>, log: Logger): CodeMode =>
  createCodeMode({ embedder, onError: (err) => log.error({ err }, 'a tool call of a script failed unexpectedly') });

function createRefusalFolder(services: Pick<Services, 'hotStore' | 'metrics'>, { testing }: Config): RefusalFolder {
  const settle = (record: LogRecord) => void settleRecord(services, record, { held: false, tokens: 0 });
  const { failuresPerSecond } = testing;
  return new RefusalFolder({ settle, monotonicMs: () => performance.now(), failuresPerSecond });
}

function createKeyCache(db: Db, compiler: GuardrailCompiler): KeyCache {
  const findByHash = async (hash: string) => {
    const found = await findPrincipalByHash(db, hash);
    if (found === null) return null;
    const { key, project, labelBudgets, levels, shares, secretEndsMs, ...source } = found;
    const guardrails = compiler.compile({ ...source, keyRules: key.guardrailRules });
    const budgets = compileBudgets({ key, project, labelBudgets, levels, shares });
    const levelLimits = compileLevelLimits(levels);
    const policies = {
      ...(guardrails && { guardrails }),
      ...(budgets && { budgets }),
      ...(levelLimits && { levelLimits }),
    };
    return {
      key,
      project,
      levels: levelIdsOf(levels),
      ...policies,
      ...(secretEndsMs !== undefined && { secretEndsMs }),
    };
  };
  return new KeyCache({ source: { findByHash } });
}

/** Names by operators; callers may invent others. */
const isKnown = (
  { tables, backends }: Pick<Routing, 'tables' | 'backends'>,
  provider: string,
  model: string,
): boolean =>
  provider === backendProvider(model) ? backends.current().has(model) : isListed(tables.current(), provider, model);

/** The stores, and the tables read from them. */
async function startBase({ config, log, fetch, version }: Pick<ToolParts, 'config' | 'log' | 'fetch' | 'version'>) {
  const dataDir = resolve(config.dataDir);
  claimFolder(dataDir, (message) => log.warn(message));
  const vault = await openVault(config, dataDir);
  const metrics = new Metrics((provider, model) => isKnown(routing, provider, model));
  const stores = await openStores(config, { dataDir, onWarning: (message) => log.warn(message) });
  const { database, hotStore } = stores;
  const warmNews = createWarmNews(hotStore, log);
  const tellWarm = config.redis === undefined ? undefined : warmNews.tell;
  const presets = await readPresetChains();
  const egress = readEgressAllow(config.egressAllow);
  const checkUrl = (url: string) => checkOperatorUrl(url, egress);
  const { issuers, accessTokens } = createSignOnParts({ ...stores, config, vault, fetch, checkUrl });
  const routing = createRouting({ config, log, metrics, database, vault, fetch, accessTokens, presets, tellWarm });
  warmNews.listen((news) => routing.warmTargets.hear(news));
  const { tables } = routing;
  const telemetry = await openTelemetry({ ...stores, config, log, version, metrics, routing });
  const close = async () => {
    routing.stop();
    await stores.close();
  };
  try {
    await routing.seed();
    await hotStore.start(rebuildSource(database, telemetry.observer));
    await hotStore.tables.refresh(() => tables.start());
  } catch (error) {
    await close();
    throw error;
  }
  const refreshTables = coalesceRuns(() => hotStore.tables.refresh(() => tables.reload()));
  hotStore.onNotify((topic) => {
    if (topic === 'tables')
      refreshTables().catch((err: unknown) => log.warn({ err }, 'tables could not be read again'));
  });
  return { ...stores, metrics, vault, routing, issuers, accessTokens, checkUrl, refreshTables, telemetry, close };
}

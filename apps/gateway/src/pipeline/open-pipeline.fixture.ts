import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BodyDeadlines } from '@llm0/core/async/bounded-body';
import { CACHED_ANSWER_CODEC } from '@llm0/core/cache/cached-answer';
import { IdempotencyKeys } from '@llm0/core/cache/idempotency/idempotency-keys';
import type { SemanticAnswer, SemanticLookUp } from '@llm0/core/cache/semantic/semantic-cache';
import type { WarmHit } from '@llm0/core/cache/warm-cache';
import type { ChatRequest } from '@llm0/core/chat/request';
import { GuardrailCompiler } from '@llm0/core/guardrails/compile-guardrails';
import type { GuardrailPolicy } from '@llm0/core/guardrails/policy';
import { type ApiKey, hashSecret, looksLikeKey, type Project } from '@llm0/core/keys/api-key';
import { KeyCache } from '@llm0/core/keys/key-cache';
import type { LabelBudget } from '@llm0/core/limits/budgets';
import { compileBudgets } from '@llm0/core/limits/compile-budgets';
import { EmbeddedHotStore } from '@llm0/core/limits/embedded/embedded-hot-store';
import type { CustomerLimits, RebuildSource } from '@llm0/core/limits/hot-store';
import { LeaseKeeper } from '@llm0/core/limits/lease-keeper';
import { OpenParts } from '@llm0/core/limits/open-parts';
import { TurnQueue } from '@llm0/core/limits/turn-queue';
import type { GivenBodies } from '@llm0/core/logs/body-log';
import { RefusalFolder } from '@llm0/core/logs/fold-refusals';
import type { LogRecord } from '@llm0/core/logs/log-record';
import { createPriceBook } from '@llm0/core/pricing/price-book';
import { createRoutingTables } from '@llm0/core/routing/routing-tables';
import { SharedTargetHealth } from '@llm0/core/routing/shared-target-health';
import { noOtherProcess } from '@llm0/core/routing/target-health-store';
import { passTraces, type Tracing } from '@llm0/core/tracing/request-trace';
import { FlightTable } from '@llm0/core/upstream/flight-table';
import type { StoredRun } from '@llm0/drizzle/queries/limits/runs';
import { openai } from '@llm0/providers/openai/index';
import { Metrics } from '../observe/metrics';
import { OpenRequests } from '../observe/open-requests';
import { Readers } from '../observe/readers';
import type { Services } from '../services/contract';
import { createDowngradeModels, createStoreClock } from '../services/create-memories';
import { settleRecord } from './metering/build-record';
import { type Admission, type AdmitInput, CHAT } from './request/admit';
import { admitInTurn } from './request/admit-in-turn';
import { KEY, PROJECT } from './sample-principal.fixture';
import { MODEL, type Script, says } from './vendor-answers.fixture';

export { fails, MODEL, type Script, type StreamControl, says, streams } from './vendor-answers.fixture';

export interface PipelineOptions {
  readonly project?: Partial<Project>;
  readonly key?: Partial<ApiKey>;
  readonly maxBodyBytes?: number;
  /** Time for a small body to arrive. */
  readonly bodyGraceMs?: number;
  /** Of the store and the gateway; the machine's otherwise. */
  readonly nowMs?: () => number;
  /** The store has never heard of key and project. */
  readonly isNewToStore?: true;
  readonly policy?: GuardrailPolicy;
  /** Off by default: traces are passed on. */
  readonly tracing?: Tracing;
}

export const SECRET = `llm0_live_${'a'.repeat(64)}`;
export const CHEAP_MODEL = 'gpt-cheap';
/** Input and output cost 1000 and 2000 nano-USD a token; the cheap one a tenth. */
const PRICES = [
  { provider: 'openai', model: MODEL, mode: 'chat' as const, prices: { input: 1e6, output: 2e6 }, capabilities: [] },
  {
    provider: 'openai',
    model: CHEAP_MODEL,
    mode: 'chat' as const,
    prices: { input: 1e5, output: 2e5 },
    capabilities: [],
  },
];

const NO_ROWS: RebuildSource = {
  storeRecords: async () => {},
  loadSpend: async () => ({
    ...{ projectMonths: [], keyMonths: [], keyTotals: [], customerDays: [], customerMonths: [], customerLimits: [] },
    warmCacheUntilMs: 0,
  }),
  membersOf: async () => new Set(),
  sumBudget: async () => 0,
  findStored: async () => new Set(),
  findLost: async () => new Map(),
};
export const NO_LIMITS: CustomerLimits = {
  dailySpendNanoUsd: null,
  monthlySpendNanoUsd: null,
  perRequestMaxNanoUsd: null,
  requestsPerMinute: null,
  requestsPerHour: null,
  requestsPerDay: null,
  modelRequestsPerDay: {},
  onLimit: 'block',
  downgradeModel: null,
};

/** The services of one gateway without a server: an embedded hot store in a folder of its own, and a scripted upstream. */
export async function openPipeline(options: PipelineOptions = {}) {
  const dataDir = mkdtempSync(join(tmpdir(), 'llm0-pipeline-'));
  const stored = { project: { ...PROJECT, ...options.project }, key: { ...KEY, ...options.key } };
  const world = {
    stored,
    policy: options.policy ?? null,
    labelBudgets: [] as LabelBudget[],
    /** Budget of every run. */
    run: null as StoredRun | null,
    pauses: 0,
    lookUps: 0,
    scripts: [] as Script[],
    asked: [] as { model: string; stream: boolean }[],
    /** As the vendor got it. */
    sent: [] as string[],
    /** Headers of what was asked. */
    headers: [] as Headers[],
    bodies: [] as GivenBodies[],
    warm: [] as unknown[],
    warmHit: undefined as WarmHit | undefined,
    similar: {} as SemanticLookUp,
    semantic: [] as SemanticAnswer[],
    logged: [] as unknown[],
    open: 0,
  };
  const nowMs = options.nowMs ?? Date.now;
  const hotStore = new EmbeddedHotStore({ dataDir, clock: nowMs });
  await hotStore.start(NO_ROWS);
  if (options.isNewToStore !== true) {
    await hotStore.setVersions('project', stored.project.version, [{ keyId: 'key', version: stored.key.version }]);
  }
  const fetch = (async (_url: string, init: RequestInit) => {
    const { model, stream = false } = JSON.parse(String(init.body)) as { model: string; stream?: boolean };
    world.asked.push({ model, stream });
    world.sent.push(String(init.body));
    world.headers.push(new Headers(init.headers));
    const script = (world.scripts.length > 1 ? world.scripts.shift() : world.scripts[0]) ?? says('hello');
    return script(init.signal as AbortSignal, model);
  }) as unknown as typeof globalThis.fetch;
  const log = { error: (what: unknown) => world.logged.push(what), warn: () => {} } as unknown as Services['log'];
  const tables = createRoutingTables({
    providers: new Map([
      ['openai', { name: 'openai', place: 'cloud' as const, modelPatterns: [/^gpt-/], liveModels: new Set<string>() }],
    ]),
    prices: createPriceBook(PRICES, new Set()),
  });
  const clock = { nowMs, monotonicMs: () => performance.now() };
  const compiler = new GuardrailCompiler({});
  const claims = new Map<string, string>();
  const metrics = new Metrics();
  const turns = new TurnQueue();
  const refusals = new RefusalFolder({
    settle: (record) => void settleRecord({ hotStore, metrics }, record, { held: false, tokens: 0 }),
    monotonicMs: clock.monotonicMs,
  });
  const services = {
    refusals,
    hotStore,
    fetch,
    log,
    clock,
    mediaEgress: {},
    config: {
      requestTimeoutMs: 5_000,
      answerTimeoutMs: 5_000,
      streamIdleTimeoutMs: 5_000,
      maxBodyBytes: options.maxBodyBytes ?? 100_000,
      cacheTtlSeconds: 60,
      cacheMaxBodyBytes: 100_000,
    },
    createId: () => Bun.randomUUIDv7(),
    tracing: options.tracing ?? passTraces,
    metrics,
    openRequests: new OpenRequests(),
    readers: new Readers({ timeoutMs: 60_000 }),
    bodyDeadlines: new BodyDeadlines({ graceMs: options.bodyGraceMs, sweepMs: 10 }),
    keyCache: new KeyCache({
      source: {
        findByHash: async (hash) => {
          world.lookUps += 1;
          if (hash !== hashSecret(SECRET)) return null;
          const guardrails = compiler.compile({
            ...{ policy: world.policy, pseudonymSecret: 'secret' },
            keyRules: world.stored.key.guardrailRules,
          });
          const budgets = compileBudgets({ ...world.stored, labelBudgets: world.labelBudgets });
          return { ...structuredClone(world.stored), ...(guardrails && { guardrails }), ...(budgets && { budgets }) };
        },
      },
    }),
    legacyKeys: { mayBeKey: looksLikeKey, adopt: async () => false },
    accessTokens: { find: () => undefined, forget: () => {} },
    turns,
    openParts: new OpenParts(),
    leases: new LeaseKeeper({ hotStore, log, nowMs: Date.now, turns }),
    flights: new FlightTable(),
    health: new SharedTargetHealth({ store: noOtherProcess, monotonicMs: clock.monotonicMs }),
    routing: () => tables,
    refreshTables: async () => {},
    connect: () => ({ provider: openai, connection: { baseUrl: 'http://upstream.test/v1', apiKey: 'k' } }),
    downgradeModels: createDowngradeModels(),
    runs: {
      find: async () => world.run,
      reload: async () => world.run,
      has: () => world.run !== null,
      watch: () => () => {},
      signalFor: ({ signal }: { readonly signal: AbortSignal }) => ({ signal, unwatch: () => {} }),
      pause: async () => {
        world.pauses += 1;
      },
    },
    storeClock: createStoreClock(nowMs),
    warmCache: { find: async () => world.warmHit, write: (entry: unknown) => world.warm.push(entry) },
    semanticCache: {
      find: async () => world.similar,
      keep: (_question: unknown, entry: SemanticAnswer) => world.semantic.push(entry),
    },
    storedResponses: { enabled: false, keep: () => {} },
    bodyLog: { noteSent: () => {}, keep: (describe: () => GivenBodies) => world.bodies.push(describe()) },
    idempotency: new IdempotencyKeys({
      codec: CACHED_ANSWER_CODEC,
      store: {
        claim: async ({ keyHash }) => {
          const answer = claims.get(keyHash);
          return answer === undefined ? { type: 'claimed' } : { type: 'done', answer };
        },
        renew: async () => {},
        complete: async ({ keyHash }, answer) => void claims.set(keyHash, answer),
        release: async () => {},
      },
    }),
  } as unknown as Services;
  return {
    ...{ services, world, hotStore },
    /** Takes the rows settled since the last time. */
    rows: async (): Promise<LogRecord[]> => {
      const entries = await hotStore.read(100, 0);
      await hotStore.acknowledge(entries.map(({ entryId }) => entryId));
      return entries.map(({ record }) => JSON.parse(record) as LogRecord);
    },
    close: async () => {
      refusals.flush();
      services.idempotency.stop();
      services.health.stop();
      await hotStore.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

export type Pipeline = Awaited<ReturnType<typeof openPipeline>>;

export function chatRequest(text = 'What is one and one?', given: Partial<ChatRequest> = {}): ChatRequest {
  const messages = [{ role: 'user' as const, content: [{ type: 'text' as const, text }] }];
  return { model: MODEL, messages, stream: false, extra: {}, ...given };
}

/** The decision over a chat request, as `handle-chat` asks for it. */
export const admit = (services: Services, input: AdmitInput): Promise<Admission> => admitInTurn(services, input, CHAT);

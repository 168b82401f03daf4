import type { BodyDeadlines } from '@llm0/core/async/bounded-body';
import type { CachedAnswer } from '@llm0/core/cache/cached-answer';
import type { CachedEmbedding } from '@llm0/core/cache/cached-embedding';
import type { CachedTask } from '@llm0/core/cache/cached-task';
import type { IdempotencyKeys } from '@llm0/core/cache/idempotency/idempotency-keys';
import type { SemanticCache } from '@llm0/core/cache/semantic/semantic-cache';
import type { WarmCache } from '@llm0/core/cache/warm-cache';
import type { KeptAnswers } from '@llm0/core/conversations/stored-responses';
import type { TextEmbedder } from '@llm0/core/embedding/built-in-embeddings';
import type { KeyCache } from '@llm0/core/keys/key-cache';
import type { HotStore } from '@llm0/core/limits/hot-store';
import type { LeaseKeeper } from '@llm0/core/limits/lease-keeper';
import type { OpenParts } from '@llm0/core/limits/open-parts';
import type { TurnQueue } from '@llm0/core/limits/turn-queue';
import type { BodyLog } from '@llm0/core/logs/body-log';
import type { RefusalFolder } from '@llm0/core/logs/fold-refusals';
import type { RealtimeSecrets } from '@llm0/core/realtime/realtime-secrets';
import type { TakenSlots } from '@llm0/core/routing/places/slots';
import type { RoutingTables } from '@llm0/core/routing/resolve-targets';
import type { SharedTargetHealth } from '@llm0/core/routing/shared-target-health';
import type { Target } from '@llm0/core/routing/target';
import type { Tracing } from '@llm0/core/tracing/request-trace';
import type { RecordObserver } from '@llm0/core/tracing/span';
import type { FlightTable } from '@llm0/core/upstream/flight-table';
import type { SinkState } from '@llm0/drizzle/queries/logs/log-sinks';
import type { Provider } from '@llm0/providers/provider';
import type { ProviderConnection } from '@llm0/providers/provider-request';
import type { EgressOptions } from '@llm0/providers/transport/egress/fetch-guarded';
import type { PinOrigin } from '@llm0/providers/transport/egress/pinned-fetch';
import type { KeyRing } from '@llm0/providers/transport/key-ring';
import type { Logger } from 'pino';
import type { BackendParts } from '../backends/parts';
import type { BatchParts } from '../batches/parts';
import type { CodeMode } from '../code-mode/create-code-mode';
import type { Config } from '../config/config';
import type { FileParts } from '../files/parts';
import type { McpParts } from '../mcp/parts';
import type { Metrics } from '../observe/metrics';
import type { OpenRequests } from '../observe/open-requests';
import type { PostWebhook } from '../observe/post-webhook';
import type { Readers } from '../observe/readers';
import type { ProviderChecks } from '../providers/provider-checks';
import type { AccessTokens } from '../sign-on/access-tokens';
import type { LegacyKeys } from './legacy-keys';
import type { RunBudgets, WatchedCall } from './run-budgets';

export type { SinkState } from '@llm0/drizzle/queries/logs/log-sinks';
export type { BackendProbe } from '../backends/parts';
export type { WatchedCall };

export interface Clock {
  /** Wall clock, epoch milliseconds. */
  nowMs(): number;
  /** Fractional milliseconds since some start; for durations only. */
  monotonicMs(): number;
}

/** A provider together with how to reach it. */
export interface ConnectedProvider {
  readonly provider: Provider;
  readonly connection: ProviderConnection;
  /** Set for several or stored keys. */
  readonly keys?: KeyRing;
  /** The project's own keys: their failures don't affect other projects. */
  readonly ownKeys?: true;
  /** For addresses that an operator gave at run time: guarded, and pinned. */
  readonly fetch?: typeof globalThis.fetch;
  /** For connections of other kinds than HTTP, where `fetch` is set. */
  readonly pin?: PinOrigin;
  /** Pass-through paths beyond inference, such as `POST /v1/files`. */
  readonly passthroughPaths?: readonly string[];
  /** Takes the places of one attempt; set if the provider or a key has limited ones. Free them with `end`. */
  readonly takeSlots?: () => TakenSlots | 'full';
}

/** Everything a request can touch; each step declares the part it uses. Built once, in `services.ts`. */
export interface Services {
  readonly version: string;
  /** Monotonic time of the start. */
  readonly startedMs: number;
  readonly config: Config;
  readonly clock: Clock;
  readonly createId: () => string;
  /** Assigns requests to traces. */
  readonly tracing: Tracing;
  /** Takes rows once they are stored, in the process that drains the queue. */
  readonly observer: RecordObserver;
  readonly fetch: typeof globalThis.fetch;
  /** Private addresses that media in callers' messages may be fetched from. */
  readonly mediaEgress: Pick<EgressOptions, 'allowedHosts' | 'allowedRanges'>;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly hotStore: HotStore;
  /** Second tier of the exact cache; asked only where the hot one has gaps. */
  readonly warmCache: WarmCache;
  /** Answers to other wordings; asked only for projects that want it. */
  readonly semanticCache: SemanticCache;
  /** The bundled model; it loads on first use. */
  readonly builtInEmbedder: TextEmbedder;
  /** Answers that later requests of their project may continue. */
  readonly storedResponses: KeptAnswers;
  /** Claims and answers of requests with an Idempotency-Key. */
  readonly idempotency: IdempotencyKeys<CachedAnswer>;
  readonly idempotentEmbeddings: IdempotencyKeys<readonly CachedEmbedding[]>;
  readonly idempotentTasks: IdempotencyKeys<CachedTask>;
  /** Prompts and answers, where LOG_BODIES asks for them. */
  readonly bodyLog: BodyLog;
  readonly keyCache: KeyCache;
  readonly legacyKeys: Pick<LegacyKeys, 'mayBeKey' | 'adopt'>;
  /** Secrets of browsers' sessions. */
  readonly realtimeSecrets: RealtimeSecrets;
  /** Tokens of identity providers in place of keys. */
  readonly accessTokens: Pick<AccessTokens, 'find' | 'forget'>;
  readonly leases: LeaseKeeper;
  /** Answers within sessions. */
  readonly openParts: OpenParts;
  /** Requests of projects with `queue_timeout_ms`. */
  readonly turns: TurnQueue;
  /** Runs with a budget. */
  readonly runs: Pick<RunBudgets, 'find' | 'reload' | 'pause' | 'tell' | 'has' | 'watch' | 'signalFor'>;
  readonly refusals: RefusalFolder;
  readonly flights: FlightTable;
  /** Scripts over the tools of a key's MCP servers. */
  readonly codeMode: CodeMode;
  /** Name of a key; undefined if deleted. */
  nameKey(keyId: string): Promise<string | undefined>;
  /** MCP servers behind `/mcp`, with clients' sessions. */
  readonly mcp: McpParts;
  /** Plain HTTP services under `/infer`, with their cache. */
  readonly backends: BackendParts;
  /** Callers' files. */
  readonly files: FileParts;
  /** Batches of requests. */
  readonly batches: BatchParts;
  /** Breakers, cool-downs and latencies of all targets, from memory. */
  readonly health: SharedTargetHealth;
  /** Health checks of providers, which the elected process runs. */
  readonly providerChecks: ProviderChecks;
  readonly openRequests: OpenRequests;
  /** Callers that are being answered piece by piece. */
  readonly readers: Readers;
  /** Small bodies on their way in. */
  readonly bodyDeadlines: BodyDeadlines;
  /** The tables as they are right now; replaced in the background. */
  readonly routing: () => RoutingTables;
  /** Reloads the tables and notes their version; earlier commits are in force when it resolves. */
  readonly refreshTables: () => Promise<void>;
  /** For alerts. */
  readonly postWebhook: PostWebhook;
  /** State of the sinks that get the log's rows; empty without any. */
  readonly logSinks: () => Promise<readonly SinkState[]>;
  readonly databaseHealth: () => Promise<{ ok: boolean; latencyMs?: number; detail?: string }>;
  /** `projectId`: with the project's own keys if any; without, the global ones. */
  readonly connect: (target: Target, projectId?: string) => ConnectedProvider | undefined;
  /** Downgrade models of customers seen lately, so that admission rarely has to ask twice. */
  readonly downgradeModels: DowngradeModels;
  /** Best guess of the store's clock for requests refused before admission. */
  readonly storeClock: StoreClock;
}

/** A request that is served. */
export type UnderWay = ReturnType<OpenRequests['enter']>;
/** A caller that is being answered. */
export type Reader = ReturnType<Readers['begin']>;
export type Caller = Parameters<Readers['begin']>[0];

export interface DowngradeModels {
  get(projectId: string, customerId: string): string | null;
  set(projectId: string, customerId: string, model: string | null): void;
}

export interface StoreClock {
  /** Takes the store's time from a decision. */
  observe(storeNowMs: number): void;
  nowMs(): number;
}

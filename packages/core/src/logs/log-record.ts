import type { Units } from '../chat/usage';
import type { LogStatus } from '../errors/error-table';
import type { GuardrailMark } from '../guardrails/policy';
import type { TraceMark } from '../tracing/request-trace';

export type DialectName =
  | 'openai-chat'
  | 'openai-responses'
  | 'openai-completions'
  | 'anthropic-messages'
  | 'openai-embeddings'
  | 'openai-moderations'
  | 'cohere-rerank'
  | 'openai-images'
  | 'openai-image-edits'
  | 'openai-decisions'
  | 'openai-transcriptions'
  | 'openai-translations'
  | 'openai-speech'
  | 'openai-realtime'
  | 'openai-live'
  | 'gemini-live'
  | 'openai-files'
  | 'openai-batches'
  | 'anthropic-batches'
  | 'passthrough'
  | 'infer';

export const MODALITIES = [
  ...(['text', 'image', 'audio', 'embedding', 'moderation', 'rerank', 'file', 'batch', 'realtime'] as const),
] as const;
export type Modality = (typeof MODALITIES)[number];

/** What requests in a dialect ask for; the others ask for text. */
export const MODALITY_OF: { readonly [K in DialectName]?: Exclude<Modality, 'text'> } = {
  'openai-moderations': 'moderation',
  'cohere-rerank': 'rerank',
  'openai-transcriptions': 'audio',
  'openai-translations': 'audio',
  'openai-speech': 'audio',
  'openai-images': 'image',
  'openai-image-edits': 'image',
  'openai-embeddings': 'embedding',
  'openai-realtime': 'realtime',
  'openai-live': 'realtime',
  'gemini-live': 'realtime',
  'openai-files': 'file',
  'openai-batches': 'batch',
  'anthropic-batches': 'batch',
};

/** One upstream attempt of a request in the log. */
export interface LogAttempt {
  readonly provider: string;
  readonly model: string;
  /** `ok`, or the way it failed (`rate_limited`, `timeout`, …). */
  readonly outcome: string;
  readonly status?: number;
  /** Milliseconds from the request's start to this attempt's start. */
  readonly startMs: number;
  readonly latencyMs: number;
  /** Nano-USD this attempt cost (0 where the vendor bills nothing). */
  readonly costNanoUsd?: number;
  /** Number of the attempt and its span, from 1. Set with tracing, except for skipped ones. */
  readonly span?: number;
}

/** Why a target was chosen or skipped. */
export interface RouteReason {
  readonly provider: string;
  readonly model: string;
  /**
   * Of the answering target its strategy, `session_affinity` or `failover`; of another one the outcome in `attempts`, or
   * `standby` if nobody had to ask it.
   */
  readonly reason: string;
}

/** Nano-USD by class of token; the parts add up to the whole cost up to rounding. */
export interface CostDetail {
  readonly input?: number;
  readonly cache_read?: number;
  readonly cache_write?: number;
  readonly output?: number;
  readonly reasoning?: number;
  readonly audio?: number;
  /** Image tokens. */
  readonly image?: number;
  /** What is billed by image, second, character, page or search. */
  readonly units?: number;
  /** Fees besides tokens: searches, sources. */
  readonly fees?: number;
  /** Cost of failed or hedged attempts. */
  readonly other_attempts?: number;
  readonly price_source?: string;
}

/**
 * One row of `gateway_logs`, as it travels through the durable queue (JSON). Fields left out are null in the row.
 * Milliseconds are fractional; `createdAtMs` is the store's clock at admission; money is nano-USD.
 */
export interface LogRecord {
  /** UUIDv7 of the server; also `request_id` and `X-Request-Id`. */
  readonly id: string;
  readonly createdAtMs: number;
  readonly projectId: string;
  readonly apiKeyId: string;
  readonly clientRequestId?: string;
  /** `X-LLM0-Run-Id`: the agent's run it belongs to. */
  readonly runId?: string;
  /** W3C trace id, 32 hex digits: the caller's, or with tracing on one that was made for it. */
  readonly traceId?: string;
  /** Set where its spans are exported; on no row. */
  readonly trace?: TraceMark;
  readonly dialect: DialectName;
  /** Absent = text. */
  readonly modality?: Modality;
  /** What was used besides tokens. */
  readonly units?: Units;
  /** The answering (or, without an answer, the intended) model. */
  readonly model: string;
  readonly requestedModel: string;
  /** The first target's provider; `finalProvider` the one that answered. */
  readonly provider?: string;
  readonly finalProvider?: string;
  readonly tokensIn: number;
  readonly tokensOut: number;
  readonly tokensCacheRead: number;
  readonly tokensCacheWrite: number;
  readonly tokensReasoning: number;
  readonly costNanoUsd: number;
  readonly savedNanoUsd: number;
  readonly costDetail?: CostDetail;
  readonly costEstimated: boolean;
  readonly latencyMs: number;
  readonly overheadMs?: number;
  readonly upstreamMs?: number;
  readonly ttftMs?: number;
  readonly stream: boolean;
  readonly cacheHit: boolean;
  readonly semanticCacheHit: boolean;
  readonly similarityScore?: number;
  /** Number of switches from one target to another. */
  readonly failoverCount: number;
  readonly attempts?: readonly LogAttempt[];
  /** Why each target was chosen or skipped; absent where there was no choice. */
  readonly routing?: readonly RouteReason[];
  readonly status: LogStatus;
  readonly httpStatus: number;
  readonly errorCode?: string;
  readonly errorMessage?: string;
  readonly customerId?: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** Number of aggregated refusals; 429 `rate_limit_exceeded` only. */
  readonly refusedCount?: number;
  /** For an exact hit of a semantic match: the request of that match. */
  readonly matchedBy?: string;
  /** Parameters dropped because the answering model doesn't support them; also `X-LLM0-Dropped`. */
  readonly droppedParams?: readonly string[];
  /** Guardrail findings; absent without any. */
  readonly guardrails?: readonly GuardrailMark[];
  /**
   * Set on the one late correction of a row that the reaper already wrote: the row with this id is replaced and
   * row and roll-ups change by the difference.
   */
  readonly corrects?: boolean;
}

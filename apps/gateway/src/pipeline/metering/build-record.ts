import { completionTokens, promptTokens, type Usage } from '@llm0/core/chat/usage';
import { ERROR_TABLE, errorStatus, type LogStatus } from '@llm0/core/errors/error-table';
import type { GatewayError } from '@llm0/core/errors/gateway-error';
import { labelsOf, type Principal } from '@llm0/core/keys/api-key';
import type { LevelIds } from '@llm0/core/limits/budgets';
import type { CacheWrite } from '@llm0/core/limits/hot-store';
import { explainRoute } from '@llm0/core/logs/explain-route';
import {
  type CostDetail,
  type DialectName,
  type LogAttempt,
  type LogRecord,
  MODALITY_OF,
} from '@llm0/core/logs/log-record';
import { redactText } from '@llm0/core/logs/redact';
import type { Route } from '@llm0/core/routing/routing-tables';
import { hadChoice } from '@llm0/core/routing/target';
import type { ServerDetail, SpanDetail, TraceMark } from '@llm0/core/tracing/request-trace';
import type { Services } from '../../services/contract';
import type { RequestContext } from '../request/open-context';

/** Outcome of a request, for its row. */
export interface Outcome {
  readonly requestedModel: string;
  readonly stream: boolean;
  /** First target's provider and, when there was an answer, the answering one. */
  readonly provider?: string;
  readonly finalProvider?: string;
  readonly model: string;
  readonly usage: Usage;
  readonly costNanoUsd: number;
  readonly costDetail?: CostDetail;
  readonly savedNanoUsd: number;
  readonly latencyMs: number;
  readonly upstreamMs?: number;
  readonly overheadMs?: number;
  readonly ttftMs?: number;
  readonly cache: 'exact' | 'semantic' | 'miss';
  readonly similarity?: number;
  readonly matchedBy?: string;
  readonly attempts: readonly LogAttempt[];
  readonly failoverCount: number;
  /** Parameters of the request that were left out. */
  readonly dropped?: readonly string[];
  /** Set if spans are exported. */
  readonly detail?: SpanDetail;
  /** The question, if the row lacks it. */
  readonly server?: ServerDetail;
  readonly status: LogStatus;
  readonly httpStatus: number;
  readonly error?: { readonly code: string; readonly message: string };
}

const MAX_MESSAGE_LENGTH = 500;
const MAX_MODEL_LENGTH = 512;

/** Owner of the request, and the time of its decision. */
export interface RecordOrigin {
  readonly ctx: RequestContext;
  readonly principal: Principal;
  readonly dialect: DialectName;
  readonly createdAtMs: number;
  /** The hold; absent without one. */
  readonly holdNanoUsd?: number;
  readonly guard?: FoundByGuardrails | undefined;
  /** The answer of an earlier request. */
  readonly isReplay?: boolean;
  readonly route?: Route | undefined;
}

/** Findings in a request and its answer; undefined without any. */
export interface FoundByGuardrails {
  list(): LogRecord['guardrails'];
}

const markOf = (mark: TraceMark, { holdNanoUsd, isReplay }: RecordOrigin, { detail, server }: Outcome): TraceMark => ({
  ...{ ...mark, holdNanoUsd, detail, server },
  ...(isReplay === true ? { isReplay } : {}),
});

/** The row of one request. */
export function buildRecord(origin: RecordOrigin, outcome: Outcome): LogRecord {
  const { ctx, principal, dialect, createdAtMs, guard, route } = origin;
  const { usage, dropped } = outcome;
  return {
    id: ctx.requestId,
    createdAtMs,
    projectId: principal.project.id,
    apiKeyId: principal.key.id,
    clientRequestId: ctx.clientRequestId,
    runId: ctx.runId,
    traceId: ctx.trace?.traceId,
    trace: ctx.trace?.mark && markOf(ctx.trace.mark, origin, outcome),
    dialect,
    model: outcome.model.slice(0, MAX_MODEL_LENGTH),
    requestedModel: outcome.requestedModel.slice(0, MAX_MODEL_LENGTH),
    provider: outcome.provider,
    finalProvider: outcome.finalProvider,
    tokensIn: promptTokens(usage),
    tokensOut: completionTokens(usage),
    tokensCacheRead: usage.cacheReadTokens,
    tokensCacheWrite: usage.cacheWriteTokens + usage.cacheWrite1hTokens,
    tokensReasoning: usage.reasoningTokens,
    costNanoUsd: outcome.costNanoUsd,
    savedNanoUsd: outcome.savedNanoUsd,
    costDetail: outcome.costDetail,
    costEstimated: usage.estimated === true,
    latencyMs: outcome.latencyMs,
    overheadMs: outcome.overheadMs,
    upstreamMs: outcome.upstreamMs,
    ttftMs: outcome.ttftMs,
    stream: outcome.stream,
    cacheHit: outcome.cache === 'exact',
    semanticCacheHit: outcome.cache === 'semantic',
    similarityScore: outcome.similarity,
    matchedBy: outcome.matchedBy,
    failoverCount: outcome.failoverCount,
    attempts: outcome.attempts.length === 0 ? undefined : outcome.attempts,
    routing: route && hadChoice(route, outcome.attempts) ? explainRoute(route, outcome.attempts) : undefined,
    status: outcome.status,
    httpStatus: outcome.httpStatus,
    errorCode: outcome.error?.code,
    errorMessage:
      outcome.error && redactText(outcome.error.message.slice(0, 4 * MAX_MESSAGE_LENGTH)).slice(0, MAX_MESSAGE_LENGTH),
    refusedCount: outcome.error?.code === 'rate_limit_exceeded' ? 1 : undefined,
    customerId: ctx.customerId,
    labels: labelsOf(principal, ctx.labels),
    droppedParams: dropped === undefined || dropped.length === 0 ? undefined : droppedOf(dropped),
    guardrails: guard?.list(),
    modality: MODALITY_OF[dialect] ?? ctx.modality ?? (usage.outputImageTokens ? 'image' : undefined),
    units: usage.units,
  };
}

const MAX_DROPPED = 64;
const MAX_DROPPED_LENGTH = 128;

/** Names are the caller's own, and as many as the caller likes. */
function droppedOf(dropped: readonly string[]): readonly string[] {
  return dropped.slice(0, MAX_DROPPED).map((name) => name.slice(0, MAX_DROPPED_LENGTH));
}

/** The part of an outcome that an error decides. */
export function errorOutcome(error: GatewayError): Pick<Outcome, 'status' | 'httpStatus' | 'error'> {
  return {
    status: ERROR_TABLE[error.kind].logStatus,
    httpStatus: errorStatus(error),
    error: { code: error.kind, message: error.message },
  };
}

export interface SettledExtras {
  /** The request holds something that ends with it. */
  readonly held: boolean;
  /** Tokens that count against the key's limit per minute. */
  readonly tokens: number;
  /** See `Settlement.levels`. */
  readonly levels?: LevelIds | undefined;
  readonly cache?: CacheWrite;
}

/** Queues a request's row and books it. Resolves (undefined: at once) when it is durable. */
export function settleRecord(
  services: Pick<Services, 'hotStore' | 'metrics'>,
  record: LogRecord,
  { held, tokens, levels, cache }: SettledExtras,
): Promise<void> | undefined {
  const handedOver = services.hotStore.settle({
    requestId: record.id,
    projectId: record.projectId,
    keyId: record.apiKeyId,
    customerId: record.customerId,
    admittedAtMs: record.createdAtMs,
    held,
    costNanoUsd: record.costNanoUsd,
    tokens,
    record: JSON.stringify(record),
    levels,
    cache,
  });
  services.metrics.observeRecord(record);
  return handedOver;
}

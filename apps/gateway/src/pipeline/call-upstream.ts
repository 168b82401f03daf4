import { type EventBatch, isOutputEvent } from '@llm0/core/chat/event';
import type { ChatRequest } from '@llm0/core/chat/request';
import { FAILURE_TABLE } from '@llm0/core/errors/error-table';
import { type AttemptSummary, GatewayError, type UpstreamFailure } from '@llm0/core/errors/gateway-error';
import type { LogAttempt } from '@llm0/core/logs/log-record';
import type { Route } from '@llm0/core/routing/resolve-targets';
import type { Target } from '@llm0/core/routing/target';
import { callProvider, type ProviderAnswer } from '@llm0/providers/call-provider';
import type { Services } from '../services-type';
import type { UpstreamAnswer } from './flight';

type Needs = Pick<Services, 'config' | 'clock' | 'fetch' | 'egress' | 'connect' | 'routing' | 'metrics'>;

export interface UpstreamJob {
  /** Whose own provider keys are used, where it has some. */
  readonly projectId: string;
  readonly request: ChatRequest;
  readonly route: Route;
  readonly dropParams: boolean;
  /** Output limit to send where the request has none (strict caps). */
  readonly outputLimit?: number;
  /** Attempts a strict cap pays for; without one, as many as the retry policy gives. */
  readonly maxAttempts: number;
  readonly startMs: number;
  /** Aborts when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

const MAX_ATTEMPTS_PER_TARGET = 2;
const MIN_ATTEMPT_MS = 1000;
/** Time kept back for each target still to come. */
const RESERVED_PER_TARGET_MS = 5000;

/** Tries the route's targets in order until one produces output; throws one error that lists every attempt. */
export async function callUpstream(services: Needs, job: UpstreamJob): Promise<UpstreamAnswer> {
  const attempts: LogAttempt[] = [];
  const deadlineMs = services.clock.monotonicMs() + 2 * services.config.requestTimeoutMs;
  let last: GatewayError | undefined;
  let waitedMs = 0;
  for (const [index, target] of job.route.targets.entries()) {
    const later = job.route.targets.length - index - 1;
    for (let tried = 0; tried < MAX_ATTEMPTS_PER_TARGET && attempts.length < job.maxAttempts; tried++) {
      const startMs = services.clock.monotonicMs();
      const timeoutMs = attemptTimeoutMs(services.config.requestTimeoutMs, deadlineMs - startMs, later);
      if (timeoutMs === 0) break;
      try {
        const opened = await openTarget(services, job, target, timeoutMs);
        const latencyMs = services.clock.monotonicMs() - startMs;
        attempts.push(attempt(target, 'ok', { startMs: startMs - job.startMs, latencyMs, status: opened.status }));
        return {
          target,
          attempts,
          wastedNanoUsd: 0,
          dropped: opened.dropped,
          failoverCount: index,
          firstWaitMs: waitedMs + latencyMs,
          batches: opened.batches,
        };
      } catch (error) {
        last = asUpstreamError(error, job.signal);
        if (last.failure === undefined) throw last;
        const latencyMs = services.clock.monotonicMs() - startMs;
        waitedMs += latencyMs;
        attempts.push(
          attempt(target, last.failure, { startMs: startMs - job.startMs, latencyMs, status: last.upstreamStatus }),
        );
        services.metrics.upstreamFailures.inc({ provider: target.provider, failure: last.failure });
        if (!FAILURE_TABLE[last.failure].failover) throw withAttempts(last, attempts);
        if (!FAILURE_TABLE[last.failure].retrySameTarget) break;
      }
    }
  }
  throw withAttempts(last ?? new GatewayError('upstream_timeout', 'No time was left to ask a provider.'), attempts);
}

/** min(REQUEST_TIMEOUT, time left − 5 s per later target), at least 1 s; 0 when the whole time is used up. */
function attemptTimeoutMs(requestTimeoutMs: number, leftMs: number, laterTargets: number): number {
  if (leftMs <= 0) return 0;
  return Math.max(MIN_ATTEMPT_MS, Math.min(requestTimeoutMs, leftMs - laterTargets * RESERVED_PER_TARGET_MS));
}

interface OpenedTarget {
  readonly status: number;
  readonly dropped: readonly string[];
  readonly batches: AsyncIterator<EventBatch>;
}

/** One attempt: resolves once the first output (or the end) is there; until then nothing was promised to the caller. */
async function openTarget(services: Needs, job: UpstreamJob, target: Target, timeoutMs: number): Promise<OpenedTarget> {
  const connected = services.connect(target, job.projectId);
  if (connected === undefined) {
    throw new GatewayError('upstream_error', `The provider "${target.provider}" is not configured any more.`, {
      failure: 'not_found',
    });
  }
  const answer: ProviderAnswer = await callProvider({
    provider: connected.provider,
    request: job.request,
    context: {
      connection: connected.connection,
      model: target.model,
      priced: services.routing().prices.find(target.provider, target.model),
      dropParams: job.dropParams,
      outputLimit: job.outputLimit,
    },
    timeoutMs,
    idleTimeoutMs: services.config.streamIdleTimeoutMs,
    signal: job.signal,
    fetch: connected.fetch ?? services.fetch,
    egress: services.egress,
    keys: connected.keys,
  });
  const iterator = answer.events[Symbol.asyncIterator]();
  const first: EventBatch[] = [];
  for (;;) {
    const next = await iterator.next();
    if (next.done === true) break;
    first.push(next.value);
    if (next.value.events.some(isOutputEvent)) break;
  }
  return { status: answer.status, dropped: answer.dropped, batches: prefixed(first, iterator) };
}

/** The batches already read, then the rest. */
function prefixed(first: readonly EventBatch[], rest: AsyncIterator<EventBatch>): AsyncIterator<EventBatch> {
  let index = 0;
  return {
    next: () => {
      const batch = first[index];
      if (batch === undefined) return rest.next();
      index += 1;
      return Promise.resolve({ done: false, value: batch });
    },
    return: () => rest.return?.() ?? Promise.resolve({ done: true, value: undefined }),
  };
}

function attempt(
  target: Target,
  outcome: string,
  timing: { startMs: number; latencyMs: number; status?: number },
): LogAttempt {
  return { provider: target.provider, model: target.model, outcome, ...timing };
}

/** Anything that is not an upstream's failure (a bug, the caller leaving) is passed on as it is. */
function asUpstreamError(error: unknown, signal: AbortSignal): GatewayError {
  if (signal.aborted) return new GatewayError('client_closed', 'The caller closed the connection.', { cause: error });
  if (error instanceof GatewayError) return error;
  return new GatewayError('internal', 'The gateway failed while asking the provider.', { cause: error });
}

/** How the last attempt's failure is told to the caller (contract: errors; last cause wins). */
const FINAL_KIND = {
  rate_limited: 'upstream_unavailable',
  server_error: 'upstream_error',
  auth: 'upstream_error',
  not_found: 'model_not_found',
  timeout: 'upstream_timeout',
  connection: 'upstream_error',
  rejected: 'upstream_rejected',
  malformed: 'upstream_error',
  truncated: 'upstream_error',
} as const satisfies Record<UpstreamFailure, GatewayError['kind']>;

const DEFAULT_RETRY_AFTER_MS = 1000;

function withAttempts(error: GatewayError, attempts: readonly LogAttempt[]): GatewayError {
  const kind = error.failure === undefined ? error.kind : FINAL_KIND[error.failure];
  const unavailable = kind === 'upstream_unavailable';
  return new GatewayError(kind, error.message, {
    param: error.param,
    retryAfterMs: error.retryAfterMs ?? (unavailable ? DEFAULT_RETRY_AFTER_MS : undefined),
    status: kind === 'upstream_rejected' ? (error.status ?? error.upstreamStatus) : undefined,
    failure: error.failure,
    upstreamStatus: error.upstreamStatus,
    attempts: attempts.map(summarize),
    cause: error.cause,
  });
}

function summarize(attempt: LogAttempt): AttemptSummary {
  return {
    provider: attempt.provider,
    model: attempt.model,
    failure: attempt.outcome,
    status: attempt.status,
    latencyMs: Math.round(attempt.latencyMs),
  };
}

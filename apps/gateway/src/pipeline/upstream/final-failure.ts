import { type AttemptSummary, GatewayError, type UpstreamFailure } from '@llm0/core/errors/gateway-error';
import { atLimit, drained } from '@llm0/core/errors/unasked-provider';
import type { LogAttempt } from '@llm0/core/logs/log-record';
import { isSameTarget, type Target, targetKey } from '@llm0/core/routing/target';
import { isUnresolved, KIND_BY_FAILURE } from '@llm0/providers/transport/call-provider';

/** Error for the caller after the last attempt (contract: errors; last cause wins). */
const FINAL_KIND = {
  ...KIND_BY_FAILURE,
  not_found: 'model_not_found',
} as const satisfies Record<UpstreamFailure, GatewayError['kind']>;

const DEFAULT_RETRY_AFTER_MS = 1000;
const WAITS: ReadonlySet<GatewayError['kind']> = new Set(['upstream_unavailable', 'upstream_rate_limited']);

export interface FailedEffort {
  readonly attempts: readonly LogAttempt[];
  /** Infinity where no vendor named a time. */
  readonly soonestRetryMs: number;
  /** The intended target; without a model if unknown. */
  readonly requested: Target;
}

/** The one error of all attempts; last cause wins, and its message names the target that was requested. */
export function finalFailure(error: GatewayError, effort: FailedEffort): GatewayError {
  const { attempts, soonestRetryMs } = effort;
  const kind = finalKind(error, attempts);
  const soonestMs = Number.isFinite(soonestRetryMs) ? soonestRetryMs : (error.retryAfterMs ?? DEFAULT_RETRY_AFTER_MS);
  return new GatewayError(kind, messageOf(error, effort), {
    param: error.param,
    retryAfterMs: WAITS.has(kind) ? soonestMs : error.retryAfterMs,
    status: kind === 'upstream_rejected' ? (error.status ?? error.upstreamStatus) : undefined,
    failure: error.failure,
    upstreamStatus: error.upstreamStatus,
    attempts: attempts.map(summarize),
    cause: error.cause,
  });
}

/** Error of a request without an attempt. */
export function nobodyAsked(skipped: readonly LogAttempt[]): GatewayError {
  const found = (reason: string) => skipped.find(({ outcome }) => outcome === reason);
  const full = found('concurrency_limit');
  if (full !== undefined) return atLimit(full);
  const closed = found('drained');
  if (closed !== undefined) return drained(closed);
  return new GatewayError('upstream_timeout', 'No time was left to call a provider.');
}

function messageOf({ message, failure }: GatewayError, { attempts, requested }: FailedEffort): string {
  if (failure === undefined || requested.model === '') return message;
  const last = attempts.findLast(({ outcome }) => outcome === failure) ?? requested;
  const named = nameTarget(message, last);
  if (isSameTarget(last, requested)) return named;
  return `${targetKey(requested)} did not answer, nor did what stands in for it. The last attempt: ${named}`;
}

/** Messages of attempts begin with their provider. */
const nameTarget = (message: string, target: Target): string =>
  message.startsWith(`${target.provider} `)
    ? `${targetKey(target)}${message.slice(target.provider.length)}`
    : `${targetKey(target)}: ${message}`;

/** Clients back off after a 429 on their own, so they get one if every target returned one. */
function finalKind(error: GatewayError, attempts: readonly LogAttempt[]): GatewayError['kind'] {
  const { kind, failure } = error;
  if (failure === undefined) return kind;
  const isLimited =
    failure === 'rate_limited' && attempts.every(({ outcome }) => !(outcome in FINAL_KIND) || outcome === failure);
  if (isLimited) return 'upstream_rate_limited';
  // An unresolvable host counts as unreachable.
  return failure === 'connection' && isUnresolved(error) ? 'upstream_unavailable' : FINAL_KIND[failure];
}

function summarize({ outcome, latencyMs, ...attempt }: LogAttempt): AttemptSummary {
  return { ...attempt, failure: outcome, latencyMs: Math.round(latencyMs) };
}

import type { UpstreamFailure } from '../errors/gateway-error';
import type { Target } from './target';

export type BreakerMode = 'closed' | 'open' | 'half_open';

/** Current state of a target, from memory; never awaited. */
export interface TargetHealth {
  /** True while its breaker is open or it cools down after a 429. */
  isOpen(target: Target): boolean;
  /** Smoothed milliseconds to its first output, over recent answers; undefined while nothing is known. */
  latencyMs(target: Target): number | undefined;
}

/** Knows nothing: every target is closed and of unknown latency. */
export const noTargetHealth: TargetHealth = { isOpen: () => false, latencyMs: () => undefined };

/** Reason to try a target last. */
export type ClosedReason = 'breaker_open' | 'cooling_down';
/** Reason not to ask a target now. */
export type SkipReason = ClosedReason | 'check_failed' | 'concurrency_limit' | 'drained';

/** One attempt at one target. */
export interface AttemptMark {
  /** Monotonic milliseconds. */
  readonly startedMs: number;
  /** Set for the project's own keys: their failures don't affect other projects. */
  readonly ownKeysOf?: string;
}

/** Health that learns from every attempt. In memory; shared in the background. */
export interface TargetMonitor extends TargetHealth {
  /**
   * undefined = allowed. A half-open target admits one request, whose outcome must be reported by one of the methods
   * below.
   */
  refuses(target: Target, projectId?: string): ClosedReason | undefined;
  /** The first output is there. */
  succeeded(target: Target, mark: AttemptMark): void;
  failed(target: Target, failure: UpstreamFailure, mark: AttemptMark & { readonly retryAfterMs?: number }): void;
  /** The attempt was given up without a verdict on the target. */
  abandoned(target: Target): void;
}

/** One target for status pages. */
export interface TargetStatus extends Target {
  readonly mode: BreakerMode;
  /** Milliseconds until it is asked again; 0 when it may be asked. */
  readonly openForMs: number;
  /** Time since its breaker opened. */
  readonly downForMs?: number;
  /** Time half-open without a decisive answer. */
  readonly halfOpenForMs?: number;
  /** Milliseconds left of the cool-down after a 429. */
  readonly coolForMs: number;
}

import type { Target } from './target';

/** What is known of a target right now, from memory: asked while a request is planned and called, never awaited. */
export interface TargetHealth {
  /** True while its breaker is open or it is cooling down after a 429: it is not asked now. */
  isOpen(target: Target): boolean;
  /** Smoothed milliseconds to its first output, over recent answers; undefined while nothing is known. */
  latencyMs(target: Target): number | undefined;
}

/** Knows nothing: every target is closed and of unknown latency. */
export const noTargetHealth: TargetHealth = { isOpen: () => false, latencyMs: () => undefined };

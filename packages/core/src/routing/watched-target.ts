import { CircuitBreaker } from './circuit-breaker';
import type { Target } from './target';

/** How much the newest answer weighs. */
const LATENCY_WEIGHT = 0.2;
const LATENCY_KEPT_MS = 300_000;

/** What one process knows of one target; times are monotonic milliseconds. */
export interface Watched {
  readonly key: string;
  readonly target: Target;
  readonly breaker: CircuitBreaker;
  coolUntilMs: number;
  /** 429s in a row that named no time. */
  coolings: number;
  latencyMs: number | undefined;
  latencyAtMs: number;
  /** A request wanted to ask it while half-open. */
  isWanted: boolean;
}

export function createWatched(key: string, { provider, model }: Target, random: () => number): Watched {
  return {
    key,
    target: { provider, model },
    breaker: new CircuitBreaker(undefined, random),
    coolUntilMs: 0,
    coolings: 0,
    latencyMs: undefined,
    latencyAtMs: 0,
    isWanted: false,
  };
}

export function noteLatency(one: Watched, tookMs: number, nowMs: number): void {
  const beforeMs = readLatency(one, nowMs);
  one.latencyMs = beforeMs === undefined ? tookMs : beforeMs + LATENCY_WEIGHT * (tookMs - beforeMs);
  one.latencyAtMs = nowMs;
}

/** undefined when it was not measured lately. */
export function readLatency(one: Watched, nowMs: number): number | undefined {
  return nowMs - one.latencyAtMs > LATENCY_KEPT_MS ? undefined : one.latencyMs;
}

/** Project ids are UUIDs and provider names hold no spaces. */
export const scopedKey = (projectId: string, key: string): string => `${projectId} ${key}`;

/** The target of a key, scoped or not. */
export function parseKey(key: string): Target {
  const start = key.indexOf(' ') === 36 ? 37 : 0;
  const slash = key.indexOf('/', start);
  return { provider: key.slice(start, slash), model: key.slice(slash + 1) };
}

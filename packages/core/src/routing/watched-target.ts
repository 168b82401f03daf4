import { CircuitBreaker } from './circuit-breaker';
import type { Target } from './target';
import type { TargetStatus } from './target-health';

/** Weight of the newest answer. */
const LATENCY_WEIGHT = 0.2;
const LATENCY_KEPT_MS = 300_000;

/** A process's state of a target; times are monotonic milliseconds. */
export interface Watched {
  readonly key: string;
  readonly target: Target;
  readonly breaker: CircuitBreaker;
  coolUntilMs: number;
  /** 429s in a row that named no time. */
  coolings: number;
  latencyMs: number | undefined;
  latencyAtMs: number;
  /** Time of the last restore: earlier attempts don't count. */
  restoredAtMs: number;
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
    restoredAtMs: Number.NEGATIVE_INFINITY,
    isWanted: false,
  };
}

export function noteLatency(one: Watched, tookMs: number, nowMs: number): void {
  const { latencyMs: beforeMs } = one;
  const isFirst = beforeMs === undefined || nowMs - one.latencyAtMs > LATENCY_KEPT_MS;
  one.latencyMs = isFirst ? tookMs : beforeMs + LATENCY_WEIGHT * (tookMs - beforeMs);
  one.latencyAtMs = nowMs;
}

/** undefined when it was not measured lately. */
export function readLatency(one: Watched, nowMs: number): number | undefined {
  return nowMs - one.latencyAtMs > LATENCY_KEPT_MS ? undefined : one.latencyMs;
}

/** Cool-down of a 429 without a time; doubles with each further one. */
const COOL_DOWN_MS = 1_000;
const MAX_GUESSED_COOL_DOWN_MS = 30_000;

/** Cool-down in milliseconds if the vendor names none. */
export const guessCoolDownMs = ({ coolings }: Watched, random: () => number): number =>
  Math.min(MAX_GUESSED_COOL_DOWN_MS, COOL_DOWN_MS * 2 ** coolings) * (0.5 + 0.5 * random());

export const statusOf = ({ target, breaker, coolUntilMs }: Watched, nowMs: number): TargetStatus => ({
  ...target,
  mode: breaker.mode(nowMs),
  openForMs: breaker.openForMs(nowMs),
  downForMs: breaker.downForMs(nowMs),
  halfOpenForMs: breaker.halfOpenForMs(nowMs),
  coolForMs: Math.max(0, coolUntilMs - nowMs),
});

/** Project ids are UUIDs and provider names hold no spaces. */
export const scopedKey = (projectId: string, key: string): string => `${projectId} ${key}`;

/** The target of a key, scoped or not. */
export function parseKey(key: string): Target {
  const start = key.indexOf(' ') === 36 ? 37 : 0;
  const slash = key.indexOf('/', start);
  return { provider: key.slice(start, slash), model: key.slice(slash + 1) };
}

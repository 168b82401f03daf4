import type { Target } from './target';
import type { BreakerMode, TargetStatus } from './target-health';
export interface BreakerSettings {
  /** Failures within the window that open it, when they are at least half of all outcomes. */
  readonly minFailures: number;
  /** Outcomes older than one to two of these are forgotten, in milliseconds. */
  readonly windowMs: number;
  /** First open period; each failed probe doubles it, up to `maxOpenMs`. */
  readonly openMs: number;
  readonly maxOpenMs: number;
}

export const BREAKER_SETTINGS: BreakerSettings = {
  minFailures: 5,
  windowMs: 10_000,
  openMs: 5_000,
  maxOpenMs: 60_000,
};

/** Open periods differ by up to a fifth, so that targets which fell together are not asked together again. */
const JITTER = 0.2;

/** One target's breaker as another process sees it. */
export interface SharedBreaker {
  /** Remaining open time; 0 = half-open. */
  readonly openForMs: number;
  /** Open periods in a row. */
  readonly trips: number;
}

/**
 * One target's breaker: closed, open after failures, then half-open until a probe decides. Times are monotonic
 * milliseconds. Outcomes of attempts from before the last opening don't count.
 */
export class CircuitBreaker {
  private ok = [0, 0];
  private failed = [0, 0];
  private windowStartMs = Number.NEGATIVE_INFINITY;
  private openedAtMs: number | undefined;
  /** Since when it has not been closed. */
  private downSinceMs: number | undefined;
  private openUntilMs = 0;
  private tripCount = 0;
  private probeUntilMs = 0;
  private probing = false;

  constructor(
    private readonly settings: BreakerSettings = BREAKER_SETTINGS,
    private readonly random: () => number = Math.random,
  ) {}

  mode(nowMs: number): BreakerMode {
    if (this.openedAtMs === undefined) return 'closed';
    return nowMs < this.openUntilMs ? 'open' : 'half_open';
  }

  /** Milliseconds until it turns half-open; 0 when it is not open. */
  openForMs(nowMs: number): number {
    return this.openedAtMs === undefined ? 0 : Math.max(0, this.openUntilMs - nowMs);
  }

  /** Milliseconds since it opened, failed probes included; undefined while it is closed. */
  downForMs(nowMs: number): number | undefined {
    return this.downSinceMs === undefined ? undefined : nowMs - this.downSinceMs;
  }

  /** Milliseconds in half-open state without a decision; undefined in other states. */
  halfOpenForMs(nowMs: number): number | undefined {
    return this.mode(nowMs) === 'half_open' ? nowMs - this.openUntilMs : undefined;
  }

  get trips(): number {
    return this.tripCount;
  }

  /** True when the target may be asked: always while closed, once for each granted probe while half-open. */
  admit(nowMs: number): boolean {
    const mode = this.mode(nowMs);
    if (mode !== 'half_open') return mode === 'closed';
    if (this.probing || nowMs >= this.probeUntilMs) return false;
    this.probing = true;
    return true;
  }

  /** This process may send the one probe, until then. */
  grantProbe(untilMs: number): void {
    this.probeUntilMs = untilMs;
    this.probing = false;
  }

  /** True while this process is the one that may probe. */
  ownsProbe(nowMs: number): boolean {
    return this.openedAtMs !== undefined && nowMs < this.probeUntilMs;
  }

  /** The probe ended without a verdict: the next request may be it. */
  returnProbe(): void {
    this.probing = false;
  }

  /** True when this closed the breaker. */
  succeed(startedMs: number, nowMs: number): boolean {
    if (this.openedAtMs === undefined) {
      if (nowMs - this.windowStartMs >= this.settings.windowMs) this.rotate(nowMs);
      this.ok[0] = (this.ok[0] ?? 0) + 1;
      return false;
    }
    if (startedMs < this.openedAtMs) return false;
    this.close();
    return true;
  }

  /** The length of the open period in milliseconds when this opened the breaker (again); undefined otherwise. */
  fail(startedMs: number, nowMs: number): number | undefined {
    if (this.openedAtMs !== undefined) return startedMs < this.openUntilMs ? undefined : this.open(nowMs);
    this.rotate(nowMs);
    this.failed[0] = (this.failed[0] ?? 0) + 1;
    const failed = sum(this.failed);
    return failed >= this.settings.minFailures && failed >= sum(this.ok) ? this.open(nowMs) : undefined;
  }

  /** Adopts the shared state. */
  adopt(shared: SharedBreaker | undefined, nowMs: number): void {
    if (shared === undefined) {
      if (this.openedAtMs !== undefined) this.close();
      return;
    }
    const untilMs = nowMs + shared.openForMs;
    if (this.openedAtMs !== undefined && shared.trips === this.tripCount) {
      // The period known already: its end never moves on, or no probe would ever have begun after it.
      this.openUntilMs = Math.min(this.openUntilMs, untilMs);
      return;
    }
    this.openedAtMs = nowMs;
    this.downSinceMs ??= nowMs;
    this.openUntilMs = untilMs;
    this.tripCount = shared.trips;
    this.grantProbe(0);
  }

  private open(nowMs: number): number {
    const { openMs, maxOpenMs } = this.settings;
    const periodMs = Math.min(maxOpenMs, openMs * 2 ** this.tripCount) * (1 - JITTER * this.random());
    this.tripCount += 1;
    this.openedAtMs = nowMs;
    this.downSinceMs ??= nowMs;
    this.openUntilMs = nowMs + periodMs;
    this.grantProbe(0);
    return periodMs;
  }

  private close(): void {
    this.openedAtMs = undefined;
    this.downSinceMs = undefined;
    this.openUntilMs = 0;
    this.tripCount = 0;
    this.grantProbe(0);
    this.ok = [0, 0];
    this.failed = [0, 0];
    this.windowStartMs = Number.NEGATIVE_INFINITY;
  }

  /** Two buckets: the running one and the one before it. */
  private rotate(nowMs: number): void {
    const ageMs = nowMs - this.windowStartMs;
    if (ageMs < this.settings.windowMs) return;
    const keepsLast = ageMs < 2 * this.settings.windowMs;
    this.ok = [0, keepsLast ? (this.ok[0] ?? 0) : 0];
    this.failed = [0, keepsLast ? (this.failed[0] ?? 0) : 0];
    this.windowStartMs = nowMs;
  }
}

const sum = (counts: readonly number[]): number => (counts[0] ?? 0) + (counts[1] ?? 0);

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

export function createWatched(
  key: string,
  { provider, model }: Target,
  random: () => number,
  settings?: BreakerSettings,
): Watched {
  return {
    key,
    target: { provider, model },
    breaker: new CircuitBreaker(settings, random),
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

// Without the shared store, this process uses its own observations, probes alone and reports later.
import { inTime } from '../async/in-time';
import { FAILURE_TABLE } from '../errors/error-table';
import type { UpstreamFailure } from '../errors/gateway-error';
import {
  type BreakerSettings,
  createWatched,
  guessCoolDownMs,
  noteLatency,
  parseKey,
  readLatency,
  scopedKey,
  statusOf,
  type Watched,
} from './circuit-breaker';
import { type Target, targetKey } from './target';
import type { AttemptMark, ClosedReason, TargetMonitor, TargetStatus } from './target-health';
import {
  HALF_OPEN_KEPT_MS,
  type HealthReport,
  PROBE_LEASE_MS,
  reportOf,
  type SharedHealth,
  type TargetHealthStore,
  type UntoldReport,
} from './target-health-store';

export interface SharedTargetHealthOptions {
  readonly store: TargetHealthStore;
  readonly monotonicMs: () => number;
  /** 0 ≤ x < 1. */
  readonly random?: () => number;
  readonly breaker?: BreakerSettings;
  /** Interval of reading the others' state in milliseconds. */
  readonly refreshMs?: number;
  readonly onOpened?: (target: Target) => void;
}

const REFRESH_MS = 500;
/** Reports of one moment go out together. */
const REPORT_DELAY_MS = 20;
const EXCHANGE_TIMEOUT_MS = 1000;
/** Targets remembered; callers may name as many models as they like. */
const MAX_TARGETS = 5_000;
/** Targets on status pages and in metrics. */
const MAX_SHOWN = 500;
const MAX_COOL_DOWN_MS = 3_600_000;

/** Breakers, cool-downs and latencies of all targets in memory; exchanged with other processes in the background. */
export class SharedTargetHealth implements TargetMonitor {
  private readonly watched = new Map<string, Watched>();
  /** Targets with a problem, usually none. */
  private readonly troubled = new Set<Watched>();
  /** Targets with failures so far, for status pages. */
  private readonly shown = new Set<Watched>();
  private reports: UntoldReport[] = [];
  private timer: ReturnType<typeof setInterval> | undefined;
  private soon: ReturnType<typeof setTimeout> | undefined;
  private exchanging: Promise<void> | undefined;
  /** True without reachable processes: this one may probe without a claim. */
  private isAlone = false;
  private readonly random: () => number;

  constructor(private readonly options: SharedTargetHealthOptions) {
    this.random = options.random ?? Math.random;
  }

  start(): void {
    this.timer = setInterval(() => void this.exchange(), this.options.refreshMs ?? REFRESH_MS);
    void this.exchange();
  }

  stop(): void {
    clearInterval(this.timer);
    clearTimeout(this.soon);
    this.options.store.close();
  }

  isOpen(target: Target): boolean {
    if (this.troubled.size === 0) return false;
    const one = this.watched.get(targetKey(target));
    const nowMs = this.options.monotonicMs();
    return one !== undefined && (one.coolUntilMs > nowMs || one.breaker.mode(nowMs) === 'open');
  }

  latencyMs(target: Target): number | undefined {
    const one = this.watched.get(targetKey(target));
    return one && readLatency(one, this.options.monotonicMs());
  }

  refuses(target: Target, projectId?: string): ClosedReason | undefined {
    if (this.troubled.size === 0) return undefined;
    const key = targetKey(target);
    const own = projectId === undefined ? undefined : this.refusal(this.watched.get(scopedKey(projectId, key)));
    return own ?? this.refusal(this.watched.get(key));
  }

  succeeded(target: Target, { startedMs, ownKeysOf }: AttemptMark): void {
    const nowMs = this.options.monotonicMs();
    const key = targetKey(target);
    const one = this.watched.get(key) ?? this.watch(key, target);
    noteLatency(one, nowMs - startedMs, nowMs);
    one.coolings = 0;
    if (one.breaker.succeed(startedMs, nowMs)) this.report({ type: 'close', target: one.key });
    const own = ownKeysOf === undefined ? undefined : this.watched.get(scopedKey(ownKeysOf, key));
    if (own === undefined) return;
    own.coolings = 0;
    if (own.breaker.succeed(startedMs, nowMs)) this.report({ type: 'close', target: own.key });
  }

  failed(target: Target, failure: UpstreamFailure, mark: AttemptMark & { readonly retryAfterMs?: number }): void {
    const nowMs = this.options.monotonicMs();
    const key = targetKey(target);
    const isOfKeys = mark.ownKeysOf !== undefined && (failure === 'auth' || failure === 'rate_limited');
    const one = this.watch(isOfKeys ? scopedKey(mark.ownKeysOf ?? '', key) : key, target);
    const { retryAfterMs, startedMs } = mark;
    if (startedMs < one.restoredAtMs) return;
    if (failure === 'rate_limited' || (failure === 'server_error' && retryAfterMs !== undefined)) {
      this.coolDown(one, retryAfterMs, nowMs);
    }
    const { countsAgainstTarget } = FAILURE_TABLE[failure];
    if (!countsAgainstTarget) one.breaker.returnProbe();
    const forMs = countsAgainstTarget ? one.breaker.fail(startedMs, nowMs) : undefined;
    if (forMs === undefined) return;
    this.trouble(one);
    this.report({ type: 'open', target: one.key, forMs, trips: one.breaker.trips });
    this.options.onOpened?.(target);
  }

  abandoned(target: Target): void {
    if (this.troubled.size > 0) this.watched.get(targetKey(target))?.breaker.returnProbe();
  }

  /** An operator restored or changed a provider: all processes try its targets again. */
  async restore(provider: string): Promise<void> {
    // Other processes may know of failures here.
    await this.exchange();
    const nowMs = this.options.monotonicMs();
    for (const one of this.watched.values()) {
      if (one.target.provider !== provider) continue;
      one.restoredAtMs = nowMs;
      if (!this.troubled.delete(one)) continue;
      one.breaker.adopt(undefined, nowMs);
      Object.assign(one, { coolUntilMs: 0, coolings: 0, isWanted: false });
      this.reports.push({ report: { type: 'restore', target: one.key }, atMs: nowMs });
    }
    await this.exchange();
  }

  /** Targets with current or past failures, without those of one project's own keys. */
  list(): readonly TargetStatus[] {
    return [...this.shown].map((one) => statusOf(one, this.options.monotonicMs()));
  }

  /** Reports local events and adopts the shared state; never throws. */
  async exchange(): Promise<void> {
    this.exchanging ??= this.exchangeOnce().finally(() => {
      this.exchanging = undefined;
    });
    return this.exchanging;
  }

  private async exchangeOnce(): Promise<void> {
    const untold = this.reports;
    this.reports = [];
    const nowMs = this.options.monotonicMs();
    const reports = untold.map((one) => reportOf(one, nowMs));
    for (const one of this.troubled) {
      if (!one.isWanted || one.breaker.mode(nowMs) !== 'half_open') continue;
      if (!one.breaker.ownsProbe(nowMs)) reports.push({ type: 'claim', target: one.key });
    }
    try {
      const shared = await inTime(this.options.store.exchange(reports), EXCHANGE_TIMEOUT_MS, noAnswer);
      this.isAlone = shared === undefined;
      if (shared === undefined) this.goAlone(reports);
      else this.adopt(shared);
    } catch {
      this.isAlone = true;
      this.reports = [...untold, ...this.reports].slice(-MAX_TARGETS);
      this.goAlone(reports);
    }
  }

  private adopt(shared: readonly SharedHealth[]): void {
    const nowMs = this.options.monotonicMs();
    const unsent = new Set(this.reports.map(({ report }) => report.target));
    const listed = new Map(shared.map((one) => [one.target, one]));
    for (const one of shared) if (!this.watched.has(one.target)) this.watch(one.target, parseKey(one.target));
    for (const one of this.watched.values()) {
      const known = listed.get(one.key);
      if (known === undefined && !this.troubled.has(one)) continue;
      // Local events since then are newer than the shared state.
      if (!unsent.has(one.key)) this.adoptOne(one, known, nowMs);
    }
  }

  private adoptOne(one: Watched, known: SharedHealth | undefined, nowMs: number): void {
    const openForMs = known?.openForMs;
    one.breaker.adopt(openForMs === undefined ? undefined : { openForMs, trips: known?.trips ?? 0 }, nowMs);
    one.coolUntilMs = nowMs + (known?.coolForMs ?? 0);
    if (known === undefined) {
      this.troubled.delete(one);
      return;
    }
    this.trouble(one);
    if (known.probeForMs > 0 && !one.breaker.ownsProbe(nowMs)) {
      one.breaker.grantProbe(nowMs + known.probeForMs);
      one.isWanted = false;
    }
  }

  /** Grants claims locally; other reports wait for the store. */
  private goAlone(reports: readonly HealthReport[]): void {
    const nowMs = this.options.monotonicMs();
    for (const report of reports) {
      if (report.type !== 'claim') continue;
      const one = this.watched.get(report.target);
      one?.breaker.grantProbe(nowMs + PROBE_LEASE_MS);
      if (one !== undefined) one.isWanted = false;
    }
    for (const one of this.troubled) {
      if (one.breaker.mode(nowMs - HALF_OPEN_KEPT_MS) === 'half_open') one.breaker.adopt(undefined, nowMs);
      if (one.breaker.mode(nowMs) === 'closed' && one.coolUntilMs <= nowMs) this.troubled.delete(one);
    }
  }

  private refusal(one: Watched | undefined): ClosedReason | undefined {
    if (one === undefined) return undefined;
    const nowMs = this.options.monotonicMs();
    if (one.coolUntilMs > nowMs) return 'cooling_down';
    if (one.breaker.admit(nowMs)) return undefined;
    const isHalfOpen = one.breaker.mode(nowMs) === 'half_open';
    if (isHalfOpen && this.isAlone && !one.breaker.ownsProbe(nowMs)) {
      one.breaker.grantProbe(nowMs + PROBE_LEASE_MS);
      if (one.breaker.admit(nowMs)) return undefined;
    }
    if (isHalfOpen && !one.isWanted) this.exchangeSoon();
    // Wanted while it is open, too: then the probe is claimed before the first request that could be it.
    one.isWanted = true;
    return 'breaker_open';
  }

  private coolDown(one: Watched, retryAfterMs: number | undefined, nowMs: number): void {
    const guessedMs = guessCoolDownMs(one, this.random);
    if (retryAfterMs === undefined) {
      // Answers that were under way together count as one.
      if (one.coolUntilMs > nowMs) return;
      one.coolings = Math.min(one.coolings + 1, 10);
    }
    const forMs = Math.min(retryAfterMs ?? guessedMs, MAX_COOL_DOWN_MS);
    if (nowMs + forMs <= one.coolUntilMs || forMs <= 0) return;
    one.coolUntilMs = nowMs + forMs;
    this.trouble(one);
    this.report({ type: 'cool', target: one.key, forMs });
  }

  private report(report: HealthReport): void {
    this.reports.push({ report, atMs: this.options.monotonicMs() });
    this.exchangeSoon();
  }

  private exchangeSoon(): void {
    if (this.timer === undefined) return;
    this.soon ??= setTimeout(() => {
      this.soon = undefined;
      void this.exchange();
    }, REPORT_DELAY_MS);
  }

  private trouble(one: Watched): void {
    this.troubled.add(one);
    if (one.key !== targetKey(one.target) || this.shown.has(one)) return;
    // Invented names must not displace targets with current failures.
    if (this.shown.size >= MAX_SHOWN) {
      for (const old of this.shown) if (!this.troubled.has(old)) this.shown.delete(old);
    }
    if (this.shown.size < MAX_SHOWN) this.shown.add(one);
  }

  private watch(key: string, target: Target): Watched {
    const known = this.watched.get(key);
    if (known !== undefined) return known;
    if (this.watched.size >= MAX_TARGETS) this.forgetWell();
    const fresh = createWatched(key, target, this.random, this.options.breaker);
    this.watched.set(key, fresh);
    return fresh;
  }

  private forgetWell(): void {
    for (const [key, one] of this.watched) {
      if (this.troubled.has(one)) continue;
      this.watched.delete(key);
      this.shown.delete(one);
    }
  }
}

function noAnswer(): never {
  throw new Error('no answer in time');
}

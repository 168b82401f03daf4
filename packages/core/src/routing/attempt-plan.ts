import { FAILURE_TABLE } from '../errors/error-table';
import type { UpstreamFailure } from '../errors/gateway-error';
import type { Target } from './target';
import type { SkipReason } from './target-health';

const MAX_ATTEMPTS_PER_TARGET = 2;
export const MIN_ATTEMPT_MS = 1000;
/** Least time for a second attempt. */
const MIN_RETRY_MS = 250;
/** Time reserved for each later target. */
export const RESERVED_PER_TARGET_MS = 5000;
/** Wait before the second attempt at one target: half of it for sure, the rest at random. */
const BACK_OFF_MS = 200;
/** A vendor that wants to be left alone for longer than this is not asked again within the request. */
const MAX_RETRY_AFTER_MS = 2000;

/** One attempt to make. */
export interface AttemptStep<T extends Target> {
  readonly target: T;
  /** Delay before the step, in milliseconds. */
  readonly waitMs: number;
  /** Milliseconds until the answer starts, or ends without streaming. */
  readonly timeoutMs: number;
  /** Monotonic time by which the first output must be there, so that later targets are asked; Infinity for the last one. */
  readonly outputByMs: number;
  /** Targets skipped since the last step. */
  readonly passedOver: readonly Skipped<T>[];
}

/** A target that isn't asked now. */
export interface Skipped<T extends Target> {
  readonly target: T;
  readonly reason: SkipReason;
}

export interface AttemptPlanOptions<T extends Target> {
  readonly targets: readonly T[];
  /** Reserved for each later target; absent = 5 s. */
  readonly reservedMs?: number | undefined;
  /** Time-out of one attempt in milliseconds. */
  timeoutMsOf(target: T): number;
  refuses(target: T): SkipReason | undefined;
  /** 0 ≤ x < 1; absent = `Math.random`. */
  random?(): number;
}

const NONE: readonly never[] = [];

/** Trying a failing target beats failing. The operator's refusal of one is final. */
const IS_TRIED_LAST = {
  breaker_open: true,
  cooling_down: true,
  check_failed: true,
  concurrency_limit: false,
  drained: false,
} as const satisfies Record<SkipReason, boolean>;

/**
 * Order and time of the targets. The route's order; open or cooling ones come last, once each. Drained ones are never
 * asked. At most 2 × the longest time-out, but at least a second each.
 */
export class AttemptPlan<T extends Target> {
  private readonly longestMs: number;
  private readonly deadlineMs: number;
  private readonly targets: readonly T[];
  private index = 0;
  /** Open or cooling down: asked last. */
  private postponed: T[] | undefined;
  /** Names that no step has claimed. */
  private unmentioned: readonly Skipped<T>[] | undefined;
  private current: T | undefined;
  private tried = 0;
  private isLastResort = false;
  private retryWaitMs: number | undefined;

  constructor(
    private readonly options: AttemptPlanOptions<T>,
    nowMs: number,
  ) {
    let longestMs = 0;
    this.targets = options.targets;
    for (const target of this.targets) longestMs = Math.max(longestMs, options.timeoutMsOf(target));
    this.longestMs = longestMs;
    this.deadlineMs = nowMs + 2 * longestMs;
  }

  /** The next attempt; undefined when none is left. */
  next(nowMs: number): AttemptStep<T> | undefined {
    const waitMs = this.retryWaitMs === undefined ? undefined : this.takeRetry(nowMs);
    if (waitMs !== undefined && this.current !== undefined) return this.step(this.current, nowMs, waitMs);
    const target = this.nextClosed() ?? this.nextPostponed();
    if (target === undefined) return undefined;
    this.current = target;
    this.tried = 0;
    return this.step(target, nowMs, 0);
  }

  /** A parallel attempt: at the next available target, else at the same one again. */
  nextHedge(nowMs: number): AttemptStep<T> | undefined {
    const target = this.nextClosed();
    if (target !== undefined) {
      this.current = target;
      this.tried = 0;
    } else if (this.isLastResort || this.tried >= MAX_ATTEMPTS_PER_TARGET || this.retryLeftMs(nowMs) < MIN_RETRY_MS) {
      return undefined;
    }
    return this.current && this.step(this.current, nowMs, 0);
  }

  /** Reports a failed step of `next` or `nextHedge`. False if the request is at fault, which ends the plan. */
  failed(target: T, failure: UpstreamFailure, retryAfterMs?: number): boolean {
    const row = FAILURE_TABLE[failure];
    const mayRetry =
      row.retrySameTarget &&
      target === this.current &&
      this.tried < MAX_ATTEMPTS_PER_TARGET &&
      !this.isLastResort &&
      (retryAfterMs ?? 0) <= MAX_RETRY_AFTER_MS;
    const backOffMs = mayRetry ? BACK_OFF_MS * (0.5 + 0.5 * (this.options.random?.() ?? Math.random())) : 0;
    this.retryWaitMs = mayRetry ? Math.max(backOffMs, retryAfterMs ?? 0) : undefined;
    return row.failover;
  }

  /** Names a target that isn't asked, in the next step. */
  skip(target: T, reason: SkipReason): void {
    this.unmentioned = [...(this.unmentioned ?? []), { target, reason }];
  }

  /** Targets skipped since the last step. */
  takeSkipped(): readonly Skipped<T>[] {
    const skipped = this.unmentioned ?? NONE;
    this.unmentioned = undefined;
    return skipped;
  }

  private get later(): number {
    return this.targets.length - this.index + (this.postponed?.length ?? 0);
  }

  /** A retry takes no time reserved for later targets. */
  private takeRetry(nowMs: number): number | undefined {
    const waitMs = this.retryWaitMs;
    this.retryWaitMs = undefined;
    if (waitMs === undefined) return undefined;
    return this.retryLeftMs(nowMs + waitMs) >= MIN_RETRY_MS ? waitMs : undefined;
  }

  private retryLeftMs(startMs: number): number {
    return this.deadlineMs - startMs - this.later * MIN_ATTEMPT_MS;
  }

  private nextClosed(): T | undefined {
    const { targets } = this;
    while (this.index < targets.length) {
      const target = targets[this.index++] as T;
      const reason = this.options.refuses(target);
      if (reason === undefined) return target;
      if (IS_TRIED_LAST[reason]) this.postponed = [...(this.postponed ?? []), target];
      this.skip(target, reason);
    }
    return undefined;
  }

  private nextPostponed(): T | undefined {
    this.isLastResort = true;
    this.unmentioned = this.unmentioned?.filter(({ reason }) => !IS_TRIED_LAST[reason]);
    return this.postponed?.shift();
  }

  private step(target: T, nowMs: number, waitMs: number): AttemptStep<T> {
    this.tried += 1;
    const later = this.targets.length === 1 ? 0 : this.later;
    const startMs = nowMs + waitMs;
    const reservedMs = later === 0 ? 0 : (this.options.reservedMs ?? RESERVED_PER_TARGET_MS);
    const leftMs = this.deadlineMs - startMs - later * reservedMs;
    const mostMs = this.targets.length === 1 ? this.longestMs : this.options.timeoutMsOf(target);
    const wantedMs = Math.max(Math.min(MIN_ATTEMPT_MS, mostMs), Math.min(mostMs, leftMs));
    const timeoutMs = this.tried === 1 ? wantedMs : Math.min(wantedMs, this.retryLeftMs(startMs));
    const outputByMs = later === 0 ? Number.POSITIVE_INFINITY : startMs + Math.max(timeoutMs, leftMs);
    return {
      target,
      waitMs,
      timeoutMs,
      outputByMs,
      passedOver: this.unmentioned === undefined || this.tried > 1 ? NONE : this.takeSkipped(),
    };
  }
}

/** Time-outs of a target in milliseconds; absent = the gateway's. */
export interface Timeouts {
  /** To connect, and to the first event of a stream. */
  readonly requestMs?: number;
  /** To the end of an answer that is no stream. */
  readonly answerMs?: number;
}

interface Given {
  readonly requestMs?: number | null | undefined;
  readonly answerMs?: number | null | undefined;
}

/** The first defined value, the narrowest first. */
export function timeoutsOf(...given: readonly (Given | undefined)[]): Timeouts | undefined {
  const requestMs = given.map((one) => one?.requestMs).find((ms) => ms != null) ?? undefined;
  const answerMs = given.map((one) => one?.answerMs).find((ms) => ms != null) ?? undefined;
  if (requestMs === undefined && answerMs === undefined) return undefined;
  return { ...(requestMs === undefined ? {} : { requestMs }), ...(answerMs === undefined ? {} : { answerMs }) };
}

/** The gateway's limit in milliseconds. */
export interface TimeoutLimits {
  readonly requestTimeoutMs: number;
  readonly answerTimeoutMs: number;
  /** True if the gateway can't see whether the host accepts connections. */
  readonly isBehindProxy: boolean;
}

export interface Timed {
  /** The answer is no stream: its time-out is to its end. */
  readonly isPlain: boolean;
  /** The caller's upper limit; absent = the gateway's. */
  readonly atMostMs?: number | undefined;
}

/** Time-out of one attempt in milliseconds. */
export function attemptTimeoutMs(
  own: Timeouts | undefined,
  limits: TimeoutLimits,
  { isPlain, atMostMs }: Timed,
): number {
  const ms = isPlain ? (own?.answerMs ?? limits.answerTimeoutMs) : (own?.requestMs ?? limits.requestTimeoutMs);
  return atMostMs === undefined ? ms : Math.min(ms, atMostMs);
}

/** Connect time-out in milliseconds; undefined: only the whole attempt has one. */
export const connectTimeoutMs = (own: Timeouts | undefined, limits: TimeoutLimits): number | undefined =>
  limits.isBehindProxy ? undefined : (own?.requestMs ?? limits.requestTimeoutMs);

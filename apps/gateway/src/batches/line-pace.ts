import { interruptibleSleep } from '@llm0/core/async/interruptible-sleep';

/** Waits where the answer names no time: doubled each time, up to a minute. */
const FIRST_WAIT_MS = 500;
const MOST_WAIT_MS = 60_000;
/** Codes of refusals that waiting doesn't change, or not within a batch. */
const FINAL: ReadonlySet<string> = new Set(['customer_spend_limit']);
/** Of the gateway itself, whoever asks. */
const OURS: ReadonlySet<string> = new Set(['store_unavailable', 'overloaded']);
/** Answers that may be another one next time, as often as it takes: limits of ours or the vendor's. */
export const LIMITS: ReadonlySet<number> = new Set([429, 503]);
/** Failures of a vendor are tried so often. */
const MAX_TRIES = 3;

/** What an answer says about asking again. */
export interface Refusal {
  readonly status: number;
  readonly code: string | undefined;
  /** Tries so far, this one included. */
  readonly tries: number;
  /** A vendor has run it already. */
  readonly isPaid: boolean;
}

export function isAskedAgain({ status, code, tries, isPaid }: Refusal): boolean {
  // A vendor's own answers are final, and no limit of ours holds for them.
  if (isPaid) return code !== undefined && OURS.has(code);
  if (code !== undefined && FINAL.has(code)) return false;
  return LIMITS.has(status) || (status >= 500 && tries < MAX_TRIES);
}

/** Holds back all lines of a chunk together when a limit refuses one. */
export class LinePace {
  private freeAtMs = 0;

  constructor(
    private readonly nowMs: () => number,
    private readonly signal: AbortSignal,
  ) {}

  /** Nobody asks for so many milliseconds, which it returns. */
  holdBack(retryAfter: string | null, tries: number): number {
    const told = Number(retryAfter);
    const ms =
      retryAfter !== null && Number.isFinite(told) && told > 0
        ? 1000 * told
        : Math.min(FIRST_WAIT_MS * 2 ** (tries - 1), MOST_WAIT_MS);
    this.freeAtMs = Math.max(this.freeAtMs, this.nowMs() + ms);
    return ms;
  }

  get isHeldBack(): boolean {
    return this.freeAtMs > this.nowMs();
  }

  /** Resolves when lines may be asked, or at the end of this process. */
  async wait(): Promise<void> {
    while (!this.signal.aborted) {
      const ms = this.freeAtMs - this.nowMs();
      if (ms <= 0) return;
      // Also batches that are cancelled meanwhile have to be noticed.
      await interruptibleSleep(Math.min(ms, 1000), this.signal);
      if (ms > 1000) return;
    }
  }
}

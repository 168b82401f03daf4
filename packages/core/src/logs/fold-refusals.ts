// A killed process loses its last second of aggregated refusals: free ones, beyond ten with rows.
import { FloodLimits } from '../limits/flood-limits';
import type { LogRecord } from './log-record';

/** Refusals of one key in a second that have rows of their own. */
const OWN_ROWS = 10;
const WINDOW_MS = 1000;
/** Refusals per second with rows of their own. A faulty program gets repeated answers; a flood doesn't. */
const A_SECOND = 10;
const MOST_AT_ONCE = 300;
const MOST_KEYS = 10_000;

interface Window {
  readonly endsMs: number;
  own: number;
  /** Further refusals, as one row. */
  folded?: LogRecord;
}

export interface FoldOptions {
  /** Hands a row over. */
  readonly settle: (record: LogRecord) => void;
  readonly monotonicMs: () => number;
  /** A second; another one is for tests only. */
  readonly windowMs?: number;
  /** 10; another number is for tests only. */
  readonly failuresPerSecond?: number | undefined;
}

/** Aggregates repeated refusals of a key into one row a second, so that a flood doesn't fill the log. */
export class RefusalFolder {
  /** By key. */
  private readonly failing: FloodLimits;
  private readonly windows = new Map<string, Window>();
  private timer: ReturnType<typeof setTimeout> | undefined;

  private readonly windowMs: number;

  constructor(private readonly options: FoldOptions) {
    this.windowMs = options.windowMs ?? WINDOW_MS;
    const rate = { perSecond: options.failuresPerSecond ?? A_SECOND, burst: MOST_AT_ONCE };
    this.failing = new FloodLimits({ client: rate }, MOST_KEYS);
  }

  /**
   * False if a key has too many refusals of any kind and must wait as if over its rate: each leaves a row, while rate
   * refusals are aggregated.
   */
  mayFail(keyId: string): boolean {
    return this.failing.take(keyId, this.options.monotonicMs()) === undefined;
  }

  /** False: the refusal gets a row of its own. Otherwise its row is handed over within a second, with all that are like it. */
  fold(record: LogRecord): boolean {
    if (record.errorCode !== 'rate_limit_exceeded') return false;
    const window = this.windowOf(record.apiKeyId);
    if (window.own < OWN_ROWS) {
      window.own += 1;
      return false;
    }
    window.folded = window.folded === undefined ? record : together(window.folded, record);
    return true;
  }

  /** Writes the aggregated refusals. */
  flush(): void {
    this.sweep(Number.POSITIVE_INFINITY);
  }

  private windowOf(keyId: string): Window {
    const nowMs = this.options.monotonicMs();
    const known = this.windows.get(keyId);
    if (known !== undefined && nowMs < known.endsMs) return known;
    if (known?.folded !== undefined) this.options.settle(known.folded);
    const opened = { endsMs: nowMs + this.windowMs, own: 0 };
    this.windows.set(keyId, opened);
    this.timer ??= setTimeout(() => this.sweep(this.options.monotonicMs()), this.windowMs);
    return opened;
  }

  private sweep(untilMs: number): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    let nextMs = Number.POSITIVE_INFINITY;
    for (const [keyId, { endsMs, folded }] of this.windows) {
      if (endsMs > untilMs) {
        nextMs = Math.min(nextMs, endsMs);
        continue;
      }
      this.windows.delete(keyId);
      if (folded !== undefined) this.options.settle(folded);
    }
    if (this.windows.size === 0) return;
    this.timer = setTimeout(() => this.sweep(this.options.monotonicMs()), Math.max(1, nextMs - untilMs));
  }
}

/** Their common fields, with the id and time of the first. */
function together(folded: LogRecord, record: LogRecord): LogRecord {
  const same = <K extends keyof LogRecord, E>(name: K, otherwise: E) =>
    folded[name] === record[name] ? folded[name] : otherwise;
  return {
    ...folded,
    refusedCount: (folded.refusedCount ?? 1) + (record.refusedCount ?? 1),
    model: same('model', ''),
    requestedModel: same('requestedModel', ''),
    customerId: same('customerId', undefined),
    clientRequestId: undefined,
    runId: same('runId', undefined),
    traceId: same('traceId', undefined),
    trace: same('traceId', undefined) === undefined ? undefined : folded.trace,
    labels: undefined,
  };
}

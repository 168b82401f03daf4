const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Events in the generated traffic that a reader can discover. */
export interface DemoStory {
  /** A provider is away: some requests fail, then its breaker opens and others answer. */
  readonly outage: Span & {
    readonly provider: string;
    readonly openedMs: number;
    /** Time until callers stop retrying, as a multiple of all projects' usual traffic. */
    readonly retries: number;
  };
  /** A job sends as many requests an hour, as a multiple of the usual, of all projects. */
  readonly spike: Span & { readonly factor: number };
  /** The deploy that brought the spike. */
  readonly deployMs: number;
}

/** The outage some days ago, for three quarters of an hour; the spike on the day before the last, after a deploy. */
export function tellStory({ nowMs, days }: { readonly nowMs: number; readonly days: number }): DemoStory {
  const lengthMs = days * DAY_MS;
  const outageMs = nowMs - Math.min(4 * DAY_MS, 0.28 * lengthMs);
  const spikeMs = nowMs - Math.min(26 * HOUR_MS, 0.6 * lengthMs);
  return {
    outage: {
      provider: 'openai',
      fromMs: outageMs,
      openedMs: outageMs + 6 * MINUTE_MS,
      toMs: outageMs + 47 * MINUTE_MS,
      retries: 16,
    },
    spike: { fromMs: spikeMs, toMs: spikeMs + 2.5 * HOUR_MS, factor: 7 },
    deployMs: spikeMs - 6 * MINUTE_MS,
  };
}

export const isDuring = ({ fromMs, toMs }: Span, atMs: number) => fromMs <= atMs && atMs < toMs;

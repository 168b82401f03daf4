// If the collector fails, the client retries with back-off within limits, then drops the batch. Only the export waits.
import { interruptibleSleep } from '@llm0/core/async/interruptible-sleep';
import { readRetryAfterMs } from '@llm0/providers/transport/retry-after';

/** Outcome of a request to the collector: its response, or the reason of the loss. */
export type Delivery =
  | { readonly type: 'taken'; readonly response: Uint8Array }
  | { readonly type: 'lost'; readonly reason: LossReason; readonly detail: string; readonly retryAfterMs?: number };

/** `broken`: the thread that sends ended. */
export type LossReason = 'queue_full' | 'refused' | 'unreachable' | 'rejected' | 'shutdown' | 'broken';

/** Reason for a failed request: no answer (`unreachable`), try later (`busy`), or never (`refused`). */
export type TryFailure = 'unreachable' | 'busy' | 'refused';

export interface OtlpClientOptions {
  /** URL of one signal: `…/v1/traces`. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly contentType: string;
  readonly fetch: typeof globalThis.fetch;
  /** Called for each failed request at once. */
  readonly onFailed?: (reason: TryFailure, detail: string) => void;
  readonly timeoutMs?: number;
  readonly firstBackOffMs?: number;
  readonly mostTries?: number;
  readonly nowMs?: () => number;
}

const TIMEOUT_MS = 10_000;
/** At shutdown, a collector silent for this time gets no further request. */
const SILENT_MS = 1_000;
const FIRST_BACK_OFF_MS = 1_000;
const LONGEST_BACK_OFF_MS = 30_000;
/** With their pauses more than half a minute: a collector that is restarted is there again by then. */
const MOST_TRIES = 6;
const MAX_RESPONSE_BYTES = 64 * 1024;

/** Retryable statuses. Source: https://opentelemetry.io/docs/specs/otlp/#retryable-response-codes */
const RETRYABLE: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** Posts encoded requests of one signal. */
export class OtlpClient {
  private readonly silent = new AbortController();
  private isClosing = false;
  /** Ends the request under way when the collector stays silent. */
  private silence: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly options: OtlpClientOptions) {}

  /** Limits each request to a second, the running one included; none follows a slower one. */
  close(): void {
    this.isClosing = true;
    if (this.silence === undefined) return;
    clearTimeout(this.silence);
    this.silence = setTimeout(() => this.silent.abort(), SILENT_MS);
  }

  /** Never throws. `signal` gives up. */
  deliver(body: Uint8Array<ArrayBuffer>, signal: AbortSignal): Promise<Delivery> {
    return this.tryAll(body, AbortSignal.any([signal, this.silent.signal]));
  }

  private async tryAll(body: Uint8Array<ArrayBuffer>, signal: AbortSignal): Promise<Delivery> {
    const { firstBackOffMs = FIRST_BACK_OFF_MS, mostTries = MOST_TRIES } = this.options;
    let lost: Delivery = STOPPED;
    for (let attempt = 0; attempt < mostTries && !signal.aborted; attempt++) {
      const tried = await this.post(body, signal);
      if (!('retry' in tried)) return tried;
      lost = tried.retry;
      if (attempt === mostTries - 1) break;
      const backOffMs = Math.min(firstBackOffMs * 2 ** attempt, LONGEST_BACK_OFF_MS) * (0.8 + Math.random() * 0.4);
      await interruptibleSleep(Math.min(Math.max(backOffMs, tried.afterMs), LONGEST_BACK_OFF_MS), signal);
    }
    return lost;
  }

  private async post(body: Uint8Array<ArrayBuffer>, signal: AbortSignal): Promise<Delivery | Retry> {
    const { url, headers, contentType, fetch, onFailed, timeoutMs = TIMEOUT_MS, nowMs = Date.now } = this.options;
    const late = new AbortController();
    this.silence = this.isClosing
      ? setTimeout(() => this.silent.abort(), SILENT_MS)
      : setTimeout(() => late.abort(new DOMException('', 'TimeoutError')), timeoutMs);
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: { ...headers, 'content-type': contentType, 'user-agent': 'llm0-gateway' },
        body,
        // A redirect could carry the headers, which may hold a secret, to another host.
        redirect: 'manual',
        signal: AbortSignal.any([signal, late.signal]),
      });
      const { status } = response;
      if (response.ok) return { type: 'taken', response: await readSmall(response) };
      await response.body?.cancel();
      const detail = `the collector answered with status ${status}`;
      onFailed?.(RETRYABLE.has(status) ? 'busy' : 'refused', detail);
      if (!RETRYABLE.has(status)) return { type: 'lost', reason: 'refused', detail };
      const afterMs = readRetryAfterMs(response.headers, nowMs()) ?? 0;
      return { retry: { type: 'lost', reason: 'unreachable', detail, retryAfterMs: afterMs }, afterMs };
    } catch (error) {
      if (signal.aborted) return STOPPED;
      const detail = describe(error);
      onFailed?.('unreachable', detail);
      return { retry: { type: 'lost', reason: 'unreachable', detail }, afterMs: 0 };
    } finally {
      clearTimeout(this.silence);
      this.silence = undefined;
    }
  }
}

const STOPPED = { type: 'lost', reason: 'shutdown', detail: 'the gateway stops' } as const satisfies Delivery;

interface Retry {
  readonly retry: Delivery;
  readonly afterMs: number;
}

/** The response is small; longer ones aren't read. */
async function readSmall(response: Response): Promise<Uint8Array> {
  if (Number(response.headers.get('content-length') ?? Number.POSITIVE_INFINITY) <= MAX_RESPONSE_BYTES) {
    return response.bytes();
  }
  await response.body?.cancel();
  return new Uint8Array();
}

/** Shows the code only: the runtime's messages may contain the URL. */
function describe(error: unknown): string {
  if (error instanceof Error && error.name === 'TimeoutError') return 'the collector did not answer in time';
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return `the collector cannot be reached${/^\w{2,40}$/.test(code) ? ` (${code})` : ''}`;
}

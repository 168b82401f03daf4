// A body that begins too late, stalls longer than the idle time-out, or whose reader leaves, is cancelled; so is one past
// its cap.
import { clientClosed, type GatewayError } from '@llm0/core/errors/gateway-error';
import { connectionError } from './fetch-upstream';
import { upstreamFailure } from './upstream-failure';

export interface BodyOptions {
  readonly provider: string;
  /** Longest silence between two chunks while somebody waits for the next one, in milliseconds. */
  readonly idleTimeoutMs: number;
  /** How long the first chunk may take, where that is not the idle time-out, in milliseconds. */
  readonly firstTimeoutMs?: number;
  readonly signal: AbortSignal;
}

/** Reads one upstream body chunk by chunk. `close` must be called in the end; it cancels what is left. */
export class UpstreamBody {
  private readonly reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private waitingSinceMs: number | undefined;
  /** How long the chunk waited for may take. */
  private limitMs: number;
  private stopped: GatewayError | undefined;
  private closed = false;
  private readonly onAbort = () => this.stop(clientClosed());

  constructor(
    body: ReadableStream<Uint8Array> | null,
    private readonly options: BodyOptions,
  ) {
    this.reader = body?.getReader();
    this.limitMs = options.firstTimeoutMs ?? options.idleTimeoutMs;
    options.signal.addEventListener('abort', this.onAbort, { once: true });
    if (options.signal.aborted) this.onAbort();
  }

  /** The next chunk; undefined at the end. Throws failure `timeout` or `connection`, or `client_closed`. */
  async read(): Promise<Uint8Array | undefined> {
    if (this.stopped !== undefined) throw this.stopped;
    if (this.closed || this.reader === undefined) return undefined;
    this.waitingSinceMs = performance.now();
    this.timer ??= setTimeout(this.checkIdle, this.limitMs);
    try {
      const { done, value } = await this.reader.read();
      if (this.stopped !== undefined) throw this.stopped;
      this.noteChunk();
      return done ? undefined : value;
    } catch (error) {
      throw this.stopped ?? connectionError(this.options.provider, error);
    } finally {
      this.waitingSinceMs = undefined;
    }
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    clearTimeout(this.timer);
    this.options.signal.removeEventListener('abort', this.onAbort);
    void this.reader?.cancel().catch(() => {});
  }

  private stop(error: GatewayError): void {
    this.stopped ??= error;
    void this.reader?.cancel().catch(() => {});
  }

  /** From the first chunk on, the idle time-out holds. */
  private noteChunk(): void {
    if (this.limitMs === this.options.idleTimeoutMs) return;
    this.limitMs = this.options.idleTimeoutMs;
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  /** One timer for the whole body, set again only when it fires: chunks cost no timer each. */
  private readonly checkIdle = (): void => {
    const waitedMs = this.waitingSinceMs === undefined ? 0 : performance.now() - this.waitingSinceMs;
    const leftMs = this.limitMs - waitedMs;
    if (leftMs > 0) this.timer = setTimeout(this.checkIdle, Math.max(1, leftMs));
    else {
      const message = `sent nothing for ${Math.round(this.limitMs)} ms.`;
      this.stop(upstreamFailure('timeout', this.options.provider, message));
    }
  };
}

/** The whole body. Past `maxBytes`: failure `malformed`. */
export async function readWhole(body: UpstreamBody, maxBytes: number, provider: string): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (let chunk = await body.read(); chunk !== undefined; chunk = await body.read()) {
    size += chunk.byteLength;
    if (size > maxBytes) throw upstreamFailure('malformed', provider, `sent an answer larger than ${maxBytes} bytes.`);
    chunks.push(chunk);
  }
  const [only] = chunks;
  return chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks);
}

/** The beginning of a body, as text: enough of an error page to say what it is. Never throws for a body that breaks. */
export async function readStart(body: UpstreamBody, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for (let chunk = await body.read(); chunk !== undefined && size < maxBytes; chunk = await body.read()) {
      chunks.push(chunk);
      size += chunk.byteLength;
    }
  } catch {
    // What came so far is all there is to tell.
  }
  return new TextDecoder().decode(Buffer.concat(chunks).subarray(0, maxBytes));
}

import { LinkedSet, type Place } from '../collections/linked-set';
import { clientClosed, GatewayError } from '../errors/gateway-error';

export interface BodyBounds {
  readonly maxBytes: number;
  /** Grace time in milliseconds, in addition to the time for its length. */
  readonly graceMs?: number;
  /** Takes memory for stored bytes, unless taken for the whole body. */
  readonly take?: TakeBytes;
}

/** Takes memory; undefined: available at once. Throws `overloaded` after too long. */
export type TakeBytes = (bytes: number) => Promise<void> | undefined;

/** Takes memory for a body: at once for a declared length, otherwise as bytes arrive. */
export async function takeRoom(
  declared: number | undefined,
  { take }: Pick<BodyBounds, 'take'>,
): Promise<Pick<BodyBounds, 'take'>> {
  if (declared === undefined) return { take };
  await take?.(declared);
  return {};
}

/** Reads of a body, one at a time. */
export interface BodyReader {
  /** undefined at its end. Throws `request_too_large` beyond `maxBytes`, 408 if it trickles, `client_closed` if it breaks off. */
  read(): Promise<Uint8Array | undefined>;
  cancel(reason?: unknown): Promise<void>;
}

/** So no caller can fill the memory or hold a connection for ever. */
export function readBounded(body: ReadableStream<Uint8Array>, { maxBytes, graceMs, take }: BodyBounds): BodyReader {
  return new BoundedReader(body.getReader(), { maxBytes, graceMs, take });
}

class BoundedReader implements BodyReader {
  private readonly startMs = performance.now();
  private bytes = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  /** Only while waiting for bytes: a slow vendor isn't the caller's fault. */
  private fail: ((error: Error) => void) | undefined;

  constructor(
    private readonly reader: ReadableStreamDefaultReader<Uint8Array>,
    private readonly bounds: BodyBounds,
  ) {}

  async read(): Promise<Uint8Array | undefined> {
    try {
      const { done, value } = await this.inTime();
      if (done) {
        this.end();
        return undefined;
      }
      const { maxBytes, take } = this.bounds;
      this.bytes += value.byteLength;
      if (this.bytes > maxBytes) throw tooLarge(maxBytes);
      const room = take?.(value.byteLength);
      if (room !== undefined) await room;
      return value;
    } catch (error) {
      void this.cancel().catch(() => {});
      throw error;
    }
  }

  cancel(reason?: unknown): Promise<void> {
    this.end();
    return this.reader.cancel(reason);
  }

  private inTime() {
    this.timer ??= setTimeout(this.look, this.leftMs);
    // A race would keep something of each read until the body's end.
    return new Promise<Awaited<ReturnType<typeof this.reader.read>>>((resolve, reject) => {
      this.fail = reject;
      this.reader.read().then(
        (read) => {
          this.fail = undefined;
          resolve(read);
        },
        (cause) => reject(clientClosed(cause)),
      );
    });
  }

  private get leftMs(): number {
    return Math.max(0, this.startMs + readTimeMs(this.bytes, this.bounds.graceMs) - performance.now());
  }

  /** One timer for all reads: bytes that came meanwhile have moved the end. */
  private readonly look = (): void => {
    const { leftMs } = this;
    if (leftMs === 0) this.fail?.(tooSlow());
    this.timer = leftMs === 0 ? undefined : setTimeout(this.look, leftMs);
  };

  private end(): void {
    clearTimeout(this.timer);
    this.fail = undefined;
  }
}

/** The body as a stream; fails as `readBounded`. */
export function boundedBody(body: ReadableStream<Uint8Array>, bounds: BodyBounds): ReadableStream<Uint8Array> {
  const reader = readBounded(body, bounds);
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const bytes = await reader.read();
        if (bytes === undefined) controller.close();
        else controller.enqueue(bytes);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

/** The length a caller declares; undefined without one. Throws `request_too_large`, before a byte is read. */
export function declaredLength(headers: Headers, maxBytes: number): number | undefined {
  const declared = headers.get('content-length');
  if (declared === null || !/^\d{1,15}$/.test(declared)) return undefined;
  const length = Number(declared);
  if (length > maxBytes) throw tooLarge(maxBytes);
  return length;
}

export function tooLarge(maxBytes: number): GatewayError {
  return new GatewayError('request_too_large', `The request body is larger than ${maxBytes} bytes.`);
}

export function tooSlow(): GatewayError {
  return new GatewayError('invalid_request', 'The request body took too long to arrive. Send it again.', {
    status: 408,
  });
}

const GRACE_MS = 30_000;
/** A slower caller occupies memory that others need. */
const MIN_BYTES_PER_MS = 32;
/** One timer over all reads under way: a timer for each would cost more than reading most bodies. */
const SWEEP_MS = 1000;

/** Time for a body of this length to arrive, in milliseconds. */
export const readTimeMs = (bytes: number, graceMs = GRACE_MS): number => graceMs + bytes / MIN_BYTES_PER_MS;

export interface BodyDeadlinesOptions {
  readonly graceMs?: number;
  readonly sweepMs?: number;
}

/** A read under way; ends early if it expires. */
class OpenRead<T> implements Place<Expiring> {
  readonly result = Promise.withResolvers<T>();
  value: Expiring | undefined;
  before: Place<Expiring> | undefined;
  after: Place<Expiring> | undefined;

  constructor(
    private readonly open: LinkedSet<Expiring>,
    readonly byMs: number,
    private readonly late: () => Error,
  ) {
    open.append(this, this);
  }

  async follow(reading: Promise<T>): Promise<void> {
    try {
      this.result.resolve(await reading);
    } catch (cause) {
      this.result.reject(clientClosed(cause));
    } finally {
      this.open.remove(this);
    }
  }

  expire(): void {
    this.open.remove(this);
    this.result.reject(this.late());
  }
}

type Expiring = Pick<OpenRead<unknown>, 'byMs' | 'expire'>;

/** Deadlines of small whole bodies, against trickling. */
export class BodyDeadlines {
  private readonly open = new LinkedSet<Expiring>();
  private timer: ReturnType<typeof setInterval> | undefined;

  constructor(private readonly options: BodyDeadlinesOptions = {}) {}

  get count(): number {
    return this.open.size;
  }

  /** Awaits `reading`. Fails with `late()` up to a second after the time limit for its size, `client_closed` if it fails. */
  read<T>(reading: Promise<T>, bytes: number, late: () => Error): Promise<T> {
    const read = new OpenRead<T>(this.open, performance.now() + readTimeMs(bytes, this.options.graceMs), late);
    this.timer ??= this.startTimer();
    void read.follow(reading);
    return read.result.promise;
  }

  private startTimer(): ReturnType<typeof setInterval> {
    const timer = setInterval(() => this.sweep(), this.options.sweepMs ?? SWEEP_MS);
    timer.unref();
    return timer;
  }

  private sweep(): void {
    if (this.open.size === 0) {
      clearInterval(this.timer);
      this.timer = undefined;
      return;
    }
    const nowMs = performance.now();
    for (const read of this.open) if (read.byMs <= nowMs) read.expire();
  }
}

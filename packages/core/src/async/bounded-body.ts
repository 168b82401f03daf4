import { GatewayError } from '../errors/gateway-error';
import { readTimeMs } from './body-deadlines';

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

/**
 * The body as a stream; fails with `request_too_large` beyond `maxBytes`, and with 408 if it trickles. So no caller can
 * fill the memory or hold a connection for ever.
 */
export function boundedBody(
  body: ReadableStream<Uint8Array>,
  { maxBytes, graceMs, take }: BodyBounds,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const startMs = performance.now();
  let bytes = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** Only while waiting for bytes: a slow vendor isn't the caller's fault. */
  const late = Promise.withResolvers<never>();
  late.promise.catch(() => {});
  const read = () => {
    const leftMs = startMs + readTimeMs(bytes, graceMs) - performance.now();
    timer = setTimeout(() => late.reject(tooSlow()), Math.max(0, leftMs));
    return Promise.race([reader.read(), late.promise]);
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await read();
          if (done) return controller.close();
          bytes += value.byteLength;
          if (bytes > maxBytes) throw tooLarge(maxBytes);
          const room = take?.(value.byteLength);
          if (room !== undefined) await room;
          controller.enqueue(value);
        } catch (error) {
          void reader.cancel().catch(() => {});
          throw error;
        } finally {
          clearTimeout(timer);
        }
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

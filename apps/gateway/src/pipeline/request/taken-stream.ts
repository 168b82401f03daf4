import type { Held } from '@llm0/core/async/room';
import type { Caller, Reader, Services } from '../../services/contract';

/** Size of output pieces: untaken bytes wait in memory. */
export const PIECE_BYTES = 256 * 1024;
/** A body up to this length is given out at once. */
export const SHORT_BYTES = 64 * 1024;

export interface TakenBy extends Caller {
  readonly readers: Services['readers'];
}

export interface TakenSource {
  /** The next bytes; undefined at the end. A throw breaks the answer off. */
  next(): Promise<Uint8Array | undefined> | Uint8Array | undefined;
  /** The caller left or was cut; at most once, and never after the end. */
  onGone(): void;
}

/**
 * The body of an answer, no faster than its caller takes it; one that takes nothing for long is cut. `first`: bytes that
 * are there already.
 */
export function takenStream(
  { readers, ...caller }: TakenBy,
  source: TakenSource,
  first?: Uint8Array,
): ReadableStream<Uint8Array> {
  const { request } = caller;
  let reader: Reader | undefined;
  let rest = first;
  const end = (): boolean => {
    if (reader === undefined) return false;
    request.signal.removeEventListener('abort', leave);
    reader.end();
    reader = undefined;
    rest = undefined;
    return true;
  };
  const leave = () => {
    if (end()) source.onGone();
  };
  reader = readers.begin(caller, leave);
  // A stream is never cancelled if its client leaves before the first pull.
  request.signal.addEventListener('abort', leave);
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        reader?.asked();
        try {
          const bytes = rest ?? (await source.next());
          if (reader === undefined) return closeQuietly(controller);
          if (bytes === undefined) {
            end();
            return controller.close();
          }
          rest = bytes.byteLength > PIECE_BYTES ? bytes.subarray(PIECE_BYTES) : undefined;
          const piece = rest === undefined ? bytes : bytes.subarray(0, PIECE_BYTES);
          reader.gave(piece.byteLength);
          controller.enqueue(piece);
        } catch (error) {
          end();
          controller.error(error);
        }
      },
      cancel: leave,
    },
    { highWaterMark: 0 },
  );
}

/** Waits for the first bytes: the runtime sends no headers before, so an error keeps its status. */
export async function begunStream(by: TakenBy, source: TakenSource): Promise<ReadableStream<Uint8Array>> {
  return takenStream(by, source, await source.next());
}

/** A whole body, which counts as held until it is taken. Waits for room; throws `overloaded`. */
export async function takenWhole(
  by: TakenBy & { readonly held: Held },
  body: string | Blob | Uint8Array,
): Promise<string | Blob | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>> {
  const length = typeof body === 'string' ? body.length : body instanceof Blob ? body.size : body.byteLength;
  if (length <= SHORT_BYTES) return body as string | Blob | Uint8Array<ArrayBuffer>;
  const held = by.held.share();
  let isHeld = true;
  const end = () => {
    if (isHeld) held.end();
    isHeld = false;
  };
  try {
    await held.keepOfAnswer(length);
    let bytes: Uint8Array | undefined;
    if (typeof body === 'string') bytes = Buffer.from(body);
    else bytes = body instanceof Blob ? await body.bytes() : body;
    return takenStream(by, {
      next: () => {
        const all = bytes;
        bytes = undefined;
        if (all === undefined) end();
        return all;
      },
      onGone: end,
    });
  } catch (error) {
    end();
    throw error;
  }
}

function closeQuietly(controller: ReadableStreamDefaultController<Uint8Array>): void {
  try {
    controller.close();
  } catch {
    // Already closed by the cancelling side.
  }
}

import { crc32 } from 'node:zlib';
import type { EventStreamCodec } from '@smithy/eventstream-codec';

/** One message of a binary event stream. */
export interface EventStreamFrame {
  /** String headers only; no other type matters. */
  readonly header: (name: string) => string | undefined;
  readonly payload: Uint8Array;
}

/** Total length, length of the headers, and their checksum. */
const PRELUDE_BYTES = 12;
/** The format's own limit; answers stay far below it. */
const MAX_FRAME_BYTES = 24 * 1024 * 1024;

let codec: EventStreamCodec | undefined;
/** Loaded by the first event: it takes a twentieth of a start. */
function loadCodec(): EventStreamCodec {
  const library = require('@smithy/eventstream-codec') as typeof import('@smithy/eventstream-codec');
  return new library.EventStreamCodec(
    (bytes) => Buffer.from(bytes as Uint8Array).toString('utf8'),
    (text) => Buffer.from(text, 'utf8'),
  );
}

/**
 * Cuts `application/vnd.amazon.eventstream` into its messages, both checksums of each checked.
 * Source: https://docs.aws.amazon.com/transcribe/latest/dg/streaming-setting-up.html#streaming-event-stream
 */
export class EventStreamFrames {
  private pieces: Uint8Array[] = [];
  private size = 0;
  /** Bytes to wait for; infinite after damage. */
  private wanted = PRELUDE_BYTES;

  /** Complete messages so far. A damaged one ends the stream as null. */
  push(chunk: Uint8Array): readonly (EventStreamFrame | null)[] {
    if (this.wanted === Number.POSITIVE_INFINITY) return [];
    this.pieces.push(chunk);
    this.size += chunk.length;
    if (this.size < this.wanted) return [];
    const [first = chunk] = this.pieces;
    let bytes = this.pieces.length === 1 ? first : Buffer.concat(this.pieces);
    const frames: (EventStreamFrame | null)[] = [];
    for (this.wanted = PRELUDE_BYTES; bytes.length >= this.wanted; ) {
      const length = readLength(bytes);
      if (length !== undefined && bytes.length < length) {
        this.wanted = length;
        break;
      }
      const frame = length === undefined ? null : readFrame(bytes.subarray(0, length));
      frames.push(frame);
      if (frame === null) this.wanted = Number.POSITIVE_INFINITY;
      bytes = bytes.subarray(length);
    }
    this.pieces = [bytes];
    this.size = bytes.length;
    return frames;
  }
}

/** Length of the message; undefined for a damaged prelude, so that a reader doesn't wait for it. */
function readLength(bytes: Uint8Array): number | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, PRELUDE_BYTES);
  const length = view.getUint32(0);
  return view.getUint32(8) === crc32(bytes.subarray(0, 8)) && length <= MAX_FRAME_BYTES ? length : undefined;
}

function readFrame(bytes: Uint8Array): EventStreamFrame | null {
  try {
    codec ??= loadCodec();
    const { headers, body } = codec.decode(bytes);
    const header = (name: string) => {
      const found = headers[name];
      return found?.type === 'string' ? found.value : undefined;
    };
    return { header, payload: body };
  } catch {
    return null;
  }
}

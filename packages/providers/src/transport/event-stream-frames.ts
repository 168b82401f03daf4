import { crc32 } from 'node:zlib';

/** One message of a binary event stream. */
export interface EventStreamFrame {
  /** Headers of type string, by name; the others say nothing that is needed. */
  readonly headers: ReadonlyMap<string, string>;
  readonly payload: Uint8Array;
}

/** Total length, length of the headers, and their checksum. */
const PRELUDE_BYTES = 12;
const CHECKSUM_BYTES = 4;
/** The format's own limit is 24 MiB; no part of an answer comes near it. */
const MAX_FRAME_BYTES = 24 * 1024 * 1024;
const EMPTY = new Uint8Array(0);

/** Bytes of the values of fixed size, by type of header; strings and byte arrays bring a length of 2 bytes. */
const VALUE_BYTES: Readonly<Record<number, number>> = { 0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16 };
const BYTES_TYPE = 6;
const STRING_TYPE = 7;

/**
 * Cuts `application/vnd.amazon.eventstream` into its messages, both checksums of each checked.
 * Source: https://docs.aws.amazon.com/transcribe/latest/dg/streaming-setting-up.html#streaming-event-stream
 */
export class EventStreamFrames {
  private rest: Uint8Array = EMPTY;
  private isBroken = false;

  /** The messages complete by now. A damaged one ends the stream: it comes as null, and nothing after it. */
  push(chunk: Uint8Array): readonly (EventStreamFrame | null)[] {
    if (this.isBroken) return [];
    let bytes = this.rest.length === 0 ? chunk : Buffer.concat([this.rest, chunk]);
    const frames: (EventStreamFrame | null)[] = [];
    while (bytes.length >= PRELUDE_BYTES) {
      const length = readLength(bytes);
      if (length === undefined) return this.break(frames);
      if (bytes.length < length) break;
      const frame = readFrame(bytes.subarray(0, length));
      if (frame === null) return this.break(frames);
      frames.push(frame);
      bytes = bytes.subarray(length);
    }
    this.rest = bytes;
    return frames;
  }

  private break(frames: (EventStreamFrame | null)[]): readonly (EventStreamFrame | null)[] {
    this.isBroken = true;
    this.rest = EMPTY;
    frames.push(null);
    return frames;
  }
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Length of the whole message; undefined where the prelude is damaged. */
function readLength(bytes: Uint8Array): number | undefined {
  const view = viewOf(bytes);
  const length = view.getUint32(0);
  const isWhole = view.getUint32(8) === crc32(bytes.subarray(0, 8));
  const fits = length <= MAX_FRAME_BYTES && length >= PRELUDE_BYTES + view.getUint32(4) + CHECKSUM_BYTES;
  return isWhole && fits ? length : undefined;
}

function readFrame(bytes: Uint8Array): EventStreamFrame | null {
  const end = bytes.length - CHECKSUM_BYTES;
  const view = viewOf(bytes);
  if (view.getUint32(end) !== crc32(bytes.subarray(0, end))) return null;
  const payloadAt = PRELUDE_BYTES + view.getUint32(4);
  const headers = readHeaders(bytes.subarray(PRELUDE_BYTES, payloadAt));
  return headers === null ? null : { headers, payload: bytes.subarray(payloadAt, end) };
}

function readHeaders(bytes: Uint8Array): ReadonlyMap<string, string> | null {
  const headers = new Map<string, string>();
  const text = new TextDecoder();
  const view = viewOf(bytes);
  let at = 0;
  while (at < bytes.length) {
    const nameEnd = at + 1 + (bytes[at] ?? 0);
    const type = bytes[nameEnd] ?? -1;
    let from = nameEnd + 1;
    let size = VALUE_BYTES[type];
    if (type === STRING_TYPE || type === BYTES_TYPE) {
      if (from + 2 > bytes.length) return null;
      size = view.getUint16(from);
      from += 2;
    }
    if (size === undefined || from + size > bytes.length) return null;
    const value = bytes.subarray(from, from + size);
    if (type === STRING_TYPE) headers.set(text.decode(bytes.subarray(at + 1, nameEnd)), text.decode(value));
    at = from + size;
  }
  return headers;
}

import type { Field, MessageWriter } from './fields';

const FIRST_BYTES = 64 * 1024;
/** Larger buffers aren't kept for the next message. */
const MOST_BYTES_KEPT = 4 * 1024 * 1024;
/** UTF-8 of one UTF-16 unit. */
const MOST_BYTES_A_UNIT = 3;
/** For longer text, the engine's encoder is faster than a loop. */
const SHORT = 48;
/** Reserved by `varint`. */
const MOST_VARINT_BYTES = 10;
const VARINT_BITS = 0x7f;
const VARINT_MORE = 0x80;

/** Names of attributes are few; callers make up those of labels. */
const MAX_NAMES = 1_000;

const WIRE = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;

/**
 * Writes Protocol Buffers into memory that grows and is used again: one writer, one message at a time.
 * Source: https://protobuf.dev/programming-guides/encoding/
 */
export class ProtoWriter implements MessageWriter {
  private bytes = new Uint8Array(FIRST_BYTES);
  private view = new DataView(this.bytes.buffer);
  private at = 0;
  private readonly encoder = new TextEncoder();
  /** Fields that hold a name, encoded, by name. */
  private readonly names = new Map<string, Uint8Array>();

  start(): void {
    this.at = 0;
    if (this.bytes.length > MOST_BYTES_KEPT) this.use(new Uint8Array(FIRST_BYTES));
  }

  /** The message, as bytes of its own. */
  finish(): Uint8Array<ArrayBuffer> {
    return this.bytes.slice(0, this.at);
  }

  begin(field: Field): number {
    this.tag(field, WIRE.bytes);
    this.reserve(1);
    this.at += 1;
    return this.at;
  }

  end(start: number): void {
    const length = this.at - start;
    const more = sizeOfVarint(length) - 1;
    if (more > 0) {
      this.reserve(more);
      this.bytes.copyWithin(start + more, start, this.at);
    }
    this.at = start - 1;
    this.varint(length);
    this.at += length;
  }

  string(field: Field, text: string): void {
    this.tag(field, WIRE.bytes);
    this.reserve(2 * MOST_VARINT_BYTES + text.length * MOST_BYTES_A_UNIT);
    if (text.length <= SHORT && this.ascii(text)) return;
    const start = this.at + sizeOfVarint(text.length);
    const { written } = this.encoder.encodeInto(text, this.bytes.subarray(start));
    const more = sizeOfVarint(written) - sizeOfVarint(text.length);
    if (more > 0) this.bytes.copyWithin(start + more, start, start + written);
    this.varint(written);
    this.at += written;
  }

  name(field: Field, text: string): void {
    const known = this.names.get(text);
    if (known !== undefined) {
      this.reserve(known.length);
      this.bytes.set(known, this.at);
      this.at += known.length;
      return;
    }
    const start = this.at;
    this.string(field, text);
    if (this.names.size < MAX_NAMES) this.names.set(text, this.bytes.slice(start, this.at));
  }

  id(field: Field, digits: string): void {
    const length = digits.length >> 1;
    this.tag(field, WIRE.bytes);
    this.varint(length);
    this.reserve(length);
    for (let i = 0; i < length; i++) {
      this.bytes[this.at++] = (digitOf(digits.charCodeAt(2 * i)) << 4) | digitOf(digits.charCodeAt(2 * i + 1));
    }
  }

  integer(field: Field, value: number): void {
    this.tag(field, WIRE.varint);
    if (value >= 0) this.varint(value);
    else this.bigVarint(BigInt.asUintN(64, BigInt(value)));
  }

  boolean(field: Field, value: boolean): void {
    this.integer(field, value ? 1 : 0);
  }

  double(field: Field, value: number): void {
    this.tag(field, WIRE.fixed64);
    this.putDouble(value);
  }

  doubles(field: Field, values: readonly number[]): void {
    this.packed(field, values.length);
    for (const value of values) this.putDouble(value);
  }

  nanos(field: Field, value: bigint): void {
    this.tag(field, WIRE.fixed64);
    this.putFixed64(value);
  }

  count(field: Field, value: number): void {
    this.nanos(field, BigInt(value));
  }

  counts(field: Field, values: readonly number[]): void {
    this.packed(field, values.length);
    for (const value of values) this.putFixed64(BigInt(value));
  }

  flags(field: Field, value: number): void {
    this.tag(field, WIRE.fixed32);
    this.reserve(4);
    this.view.setUint32(this.at, value, true);
    this.at += 4;
  }

  private packed(field: Field, count: number): void {
    this.tag(field, WIRE.bytes);
    this.varint(8 * count);
  }

  private putDouble(value: number): void {
    this.reserve(8);
    this.view.setFloat64(this.at, value, true);
    this.at += 8;
  }

  private putFixed64(value: bigint): void {
    this.reserve(8);
    this.view.setBigUint64(this.at, value, true);
    this.at += 8;
  }

  private tag({ number }: Field, wire: number): void {
    this.varint(number * 8 + wire);
  }

  private varint(value: number): void {
    this.reserve(MOST_VARINT_BYTES);
    let rest = value;
    while (rest > VARINT_BITS) {
      this.bytes[this.at++] = (rest % VARINT_MORE) | VARINT_MORE;
      rest = Math.floor(rest / VARINT_MORE);
    }
    this.bytes[this.at++] = rest;
  }

  private bigVarint(value: bigint): void {
    this.reserve(MOST_VARINT_BYTES);
    let rest = value;
    while (rest > 0x7fn) {
      this.bytes[this.at++] = Number(rest & 0x7fn) | VARINT_MORE;
      rest >>= 7n;
    }
    this.bytes[this.at++] = Number(rest);
  }

  /** Writes a short ASCII text; otherwise writes nothing. */
  private ascii(text: string): boolean {
    const { length } = text;
    const { bytes } = this;
    const start = this.at + 1;
    for (let i = 0; i < length; i++) {
      const unit = text.charCodeAt(i);
      if (unit > 0x7f) return false;
      bytes[start + i] = unit;
    }
    bytes[this.at] = length;
    this.at = start + length;
    return true;
  }

  private reserve(more: number): void {
    const needed = this.at + more;
    if (needed <= this.bytes.length) return;
    const larger = new Uint8Array(Math.max(needed, 2 * this.bytes.length));
    larger.set(this.bytes.subarray(0, this.at));
    this.use(larger);
  }

  private use(bytes: Uint8Array<ArrayBuffer>): void {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer);
  }
}

const sizeOfVarint = (value: number): number =>
  value < 0x80 ? 1 : value < 0x4000 ? 2 : value < 0x20_0000 ? 3 : value < 0x1000_0000 ? 4 : 5;

/** Value of a hex digit's code, in either case. */
const digitOf = (code: number): number => (code & 0xf) + (code > 0x39 ? 9 : 0);

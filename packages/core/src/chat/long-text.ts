import { freeBytes, nextTurn } from '../async/time-slices';

const encoder = new TextEncoder();
const SMALLEST = 1024 * 1024;
/** The most bytes that UTF-8 needs for a unit of a string. */
const MOST_BYTES = 3;

/** Builds a long text as UTF-8: half the size of strings, and freed at once instead of at a full collection. */
export class LongText {
  private bytes: Uint8Array;
  private used = 0;
  /** The first half of a pair, cut off from its other half. */
  private carried = '';
  /** Set once it contains a lone surrogate, which UTF-8 can't represent. */
  private pieces: string[] | undefined;

  /** `mostBytes`: the maximum, if known; memory grows as needed. */
  constructor(mostBytes = 0) {
    this.bytes = Buffer.allocUnsafeSlow(Math.max(SMALLEST, mostBytes));
  }

  add(given: string): void {
    const text = this.carried + given;
    const isCut = isFirstHalf(text.charCodeAt(text.length - 1));
    this.carried = isCut ? text.slice(-1) : '';
    this.write(isCut ? text.slice(0, -1) : text);
  }

  /** Returns all of it and frees the buffer. */
  async text(): Promise<string> {
    if (this.carried !== '') this.write(this.carried);
    await nextTurn();
    const text = this.pieces === undefined ? this.decode() : this.pieces.join('');
    freeBytes(this.bytes);
    return text;
  }

  private write(piece: string): void {
    if (this.pieces === undefined && !piece.isWellFormed()) this.pieces = [this.decode()];
    if (this.pieces !== undefined) {
      this.pieces.push(piece);
      return;
    }
    if (this.bytes.length - this.used < MOST_BYTES * piece.length) this.grow(piece);
    this.used += encoder.encodeInto(piece, this.bytes.subarray(this.used)).written;
  }

  /** The bound may be exact, and the piece shorter than it might be. */
  private grow(piece: string): void {
    const needed = this.used + Buffer.byteLength(piece);
    if (needed <= this.bytes.length) return;
    const grown = Buffer.allocUnsafeSlow(2 * needed);
    grown.set(this.bytes.subarray(0, this.used));
    freeBytes(this.bytes);
    this.bytes = grown;
  }

  private decode(): string {
    return new TextDecoder('utf-8', { ignoreBOM: true }).decode(this.bytes.subarray(0, this.used));
  }
}

const isFirstHalf = (code: number) => code >= 0xd800 && code <= 0xdbff;

// Reads and writes large JSON in slices of a few milliseconds and yields between them.
import { freeBytes, letGo, nextTurn, TimeSlices } from '../async/time-slices';
import type { JsonObject, JsonValue } from './json';
import { LARGE_JSON_LENGTH } from './json-bounds';
import { LongText } from './long-text';

export { LARGE_JSON_LENGTH };

/** Limit for bodies with few values, such as agents' contexts. */
export const LONG_JSON_LENGTH = 2 * 1024 * 1024;
/** Characters that are parsed or written by one native call. */
const WINDOW = 32 * 1024;

/** Characters, or bytes, that are taken in hand at a time. */
const PIECE = 256 * 1024;

/** UTF-8 bytes as text, in slices; lets go of them. */
export async function decodeInSlices(chunks: Uint8Array[]): Promise<string> {
  const pieces: string[] = [];
  for await (const piece of decodePieces(chunks)) pieces.push(piece);
  await nextTurn();
  return pieces.join('');
}

/** Decodes in pieces. `frees`: no other reader uses the chunks, so each is freed at once. */
export async function* decodePieces(
  chunks: Uint8Array[],
  { frees = false }: { readonly frees?: boolean } = {},
): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8');
  const slices = new TimeSlices();
  const left = chunks.splice(0).reverse();
  for (let chunk = left.pop(); chunk !== undefined; chunk = left.pop()) {
    for (let at = 0; at < chunk.byteLength; at += PIECE) {
      yield decoder.decode(chunk.subarray(at, at + PIECE), { stream: true });
      await slices.pause();
    }
    if (frees) freeBytes(chunk);
  }
  yield decoder.decode();
}

/** `JSON.parse` in slices. Depth must have been checked before. Throws `SyntaxError`. */
export async function parseJsonInSlices(text: string): Promise<JsonValue> {
  if (text.length <= LARGE_JSON_LENGTH) return JSON.parse(text) as JsonValue;
  return parseJsonPieces(cut(text), Buffer.byteLength(text));
}

async function* cut(text: string): AsyncGenerator<string> {
  for (let at = 0; at < text.length; at += PIECE) yield text.slice(at, at + PIECE);
}

/**
 * Parses a text in pieces and keeps only the unread part. `mostBytes`: total size in UTF-8, if known. Also throws
 * errors of `pieces`.
 */
export async function parseJsonPieces(pieces: AsyncIterable<string>, mostBytes?: number): Promise<JsonValue> {
  const iterator = pieces[Symbol.asyncIterator]();
  try {
    const parser = new TurnParser(iterator, mostBytes);
    const value = await parser.value();
    if ((await parser.rest()) !== '') throw new SyntaxError('Unexpected text after the value');
    await nextTurn();
    return value;
  } finally {
    await iterator.return?.();
  }
}

/** From this length on, the string's source is freed at once. */
const HUGE = 4 * 1024 * 1024;

const CLOSING: Readonly<Record<string, string>> = { '[': ']', '{': '}' };

class TurnParser {
  private text = '';
  private at = 0;
  private readonly slices = new TimeSlices();
  /** Characters so far. */
  private taken = 0;

  constructor(
    private pieces: AsyncIterator<string> | undefined,
    private readonly mostBytes: number | undefined,
  ) {}

  async rest(): Promise<string> {
    await this.skipSpace();
    return this.text.slice(this.at, this.at + 1);
  }

  /** The value that begins here, which may be large. */
  async value(): Promise<JsonValue> {
    await this.skipSpace();
    if (this.isShort(LONGEST_SCALAR + 1)) await this.read(LONGEST_SCALAR + 1);
    const first = this.text[this.at] ?? '';
    if (first === '"') return this.string();
    if (first === '[' || first === '{') return this.container(first);
    SCALAR.lastIndex = this.at;
    SCALAR.test(this.text);
    return this.parse(SCALAR.lastIndex, '', '');
  }

  private async container(open: '[' | '{'): Promise<JsonValue> {
    const close = CLOSING[open] as string;
    const list: JsonValue[] = [];
    const object: JsonObject = {};
    this.at += 1;
    for (let isFirst = true; ; isFirst = false) {
      await this.slices.pause();
      await this.skipSpace();
      if (this.isShort(WINDOW + 1)) await this.read(WINDOW + 1);
      if (isFirst && this.text[this.at] === close) break;
      const { end, isWhole } = this.findEnd(this.at, WINDOW);
      if (isWhole) {
        const members = this.parse(end, open, close);
        if (open === '[') for (const member of members as JsonValue[]) list.push(member);
        else for (const [name, member] of Object.entries(members as JsonObject)) setMember(object, name, member);
      } else if (open === '[') list.push(await this.value());
      else await this.member(object);
      await this.skipSpace();
      const next = this.text[this.at];
      if (next === close) break;
      if (next !== ',') throw new SyntaxError(`Expected ',' or '${close}'`);
      this.at += 1;
    }
    this.at += 1;
    return open === '[' ? list : object;
  }

  private async member(object: JsonObject): Promise<void> {
    if (this.text[this.at] !== '"') throw new SyntaxError('Property name must be a string literal');
    const name = await this.string();
    await this.skipSpace();
    if (this.text[this.at] !== ':') throw new SyntaxError("Expected ':' after a property name");
    this.at += 1;
    setMember(object, name, await this.value());
  }

  /** End of the whole members within `most` characters; not whole if the first alone is longer. */
  private findEnd(from: number, most: number): { end: number; isWhole: boolean } {
    const { text } = this;
    const last = Math.min(text.length, from + most);
    let depth = 0;
    let end = -1;
    for (let i = from; i < last; i++) {
      const c = text.charCodeAt(i);
      if (c === 0x22) i = endOfString(text, i + 1, last);
      else if (c === 0x5b || c === 0x7b) depth += 1;
      else if (c === 0x5d || c === 0x7d) {
        if (depth === 0) return { end: i, isWhole: true };
        depth -= 1;
      } else if (c === 0x2c && depth === 0) end = i;
    }
    if (end !== -1) return { end, isWhole: true };
    return { end: text.length, isWhole: last === text.length };
  }

  /** Parses up to `end`, between brackets of its own. */
  private parse(end: number, open: string, close: string): JsonValue {
    const value = JSON.parse(`${open}${this.text.slice(this.at, end)}${close}`) as JsonValue;
    const isEmpty = Array.isArray(value)
      ? value.length === 0
      : open === '{' && Object.keys(value as object).length === 0;
    if (open !== '' && isEmpty) throw new SyntaxError('Unexpected comma');
    this.at = end;
    return value;
  }

  private async string(): Promise<string> {
    const pieces: string[] = [];
    let length = 0;
    let long: LongText | undefined;
    this.at += 1;
    for (let isWhole = false; !isWhole; ) {
      if (this.isShort(WINDOW + 1)) await this.read(WINDOW + 1);
      const { text, at } = this;
      const last = Math.min(text.length, at + WINDOW);
      const quote = endOfString(text, at, last);
      isWhole = quote < last;
      if (!isWhole && last === text.length) throw new SyntaxError('Unterminated string');
      const end = isWhole ? quote : beforeEscape(text, last);
      const piece = JSON.parse(`"${text.slice(at, end)}"`) as string;
      length += piece.length;
      pieces.push(piece);
      if (length > LARGE_JSON_LENGTH) {
        long ??= new LongText(this.mostLeft());
        for (const one of pieces.splice(0)) long.add(one);
      }
      this.at = isWhole ? end + 1 : end;
      await this.slices.pause();
    }
    if (long === undefined) return pieces.length === 1 ? (pieces[0] ?? '') : pieces.join('');
    if (length >= HUGE) await letGo();
    const text = await long.text();
    if (length >= HUGE) await letGo();
    return text;
  }

  private async skipSpace(): Promise<void> {
    for (;;) {
      while (isSpace(this.text.charCodeAt(this.at))) this.at += 1;
      if (this.at < this.text.length || this.pieces === undefined) return;
      await this.read(1);
    }
  }

  /** Bytes that are still to be parsed; the rest is characters, each of which is one at least. */
  private mostLeft(): number | undefined {
    return this.mostBytes && Math.max(0, this.mostBytes - this.taken + this.text.length);
  }

  /** True if fewer characters are buffered and more may come. */
  private isShort(length: number): boolean {
    return this.pieces !== undefined && this.text.length - this.at < length;
  }

  /** Reads until this many characters are buffered, or to the end. */
  private async read(length: number): Promise<void> {
    while (this.pieces !== undefined && this.text.length - this.at < length) {
      const { done, value } = await this.pieces.next();
      if (done === true) this.pieces = undefined;
      else {
        this.text = this.text.slice(this.at) + value;
        this.at = 0;
        this.taken += value.length;
        await this.slices.pauseAfter(value.length);
      }
    }
  }
}

const isSpace = (code: number) => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;

/** A number or word; their length is bounded before anything is parsed. */
const SCALAR = /[^\s,\]}]{0,2000}/y;
const LONGEST_SCALAR = 2_000;

function isEscaped(text: string, at: number, from: number): boolean {
  let first = at;
  while (first > from && text.charCodeAt(first - 1) === 0x5c) first -= 1;
  return (at - first) % 2 === 1;
}

/** Index of the closing quote before `last`; else `last`. */
function endOfString(text: string, from: number, last: number): number {
  for (let end = text.indexOf('"', from); end >= 0 && end < last; end = text.indexOf('"', end + 1)) {
    if (!isEscaped(text, end, from)) return end;
  }
  return last;
}

/** `__proto__` is a name as any other. */
function setMember(object: JsonObject, name: string, value: JsonValue): void {
  if (name !== '__proto__') object[name] = value;
  else Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
}

/** A nearby cut that doesn't split an escape (`\n`, `A`). */
function beforeEscape(text: string, cut: number): number {
  for (let at = cut - 1; at >= cut - 5; at--) {
    if (text[at] !== '\\') continue;
    let first = at;
    while (text[first - 1] === '\\') first -= 1;
    const isEscape = (at - first) % 2 === 0;
    if (!isEscape) return cut;
    return at === cut - 1 || text[at + 1] === 'u' ? at : cut;
  }
  return cut;
}

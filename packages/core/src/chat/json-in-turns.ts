// What is large is read and written in slices of a few milliseconds, with a turn for everybody else between them.
import { nextTurn } from '../waits/in-turns';
import type { JsonObject, JsonValue } from './json';
import { endOfString } from './json-bounds';

/** Bodies up to this length are read and written at once: that takes some milliseconds. */
export const LARGE_JSON_LENGTH = 256 * 1024;
/** Characters that are parsed or written by one native call. */
const WINDOW = 32 * 1024;
const SLICE_MS = 5;

/** Gives others their turn where this one has worked long enough. */
class Turns {
  private sinceMs = performance.now();

  async pause(): Promise<void> {
    if (performance.now() - this.sinceMs < SLICE_MS) return;
    await nextTurn();
    this.sinceMs = performance.now();
  }
}

/** `JSON.parse` in turns. Depth must have been checked before. Throws `SyntaxError`. */
export async function parseJsonInTurns(text: string): Promise<JsonValue> {
  if (text.length <= LARGE_JSON_LENGTH) return JSON.parse(text) as JsonValue;
  const parser = new TurnParser(text);
  const value = await parser.value();
  if (parser.rest() !== '') throw new SyntaxError('Unexpected text after the value');
  return value;
}

const CLOSING: Readonly<Record<string, string>> = { '[': ']', '{': '}' };

class TurnParser {
  private at = 0;
  private readonly turns = new Turns();

  constructor(private readonly text: string) {}

  rest(): string {
    this.skipSpace();
    return this.text.slice(this.at, this.at + 1);
  }

  /** The value that begins here, which may be large. */
  async value(): Promise<JsonValue> {
    this.skipSpace();
    const first = this.text[this.at] ?? '';
    if (first === '"') return this.string();
    if (first === '[' || first === '{') return this.container(first);
    const end = this.findEnd(this.at, Number.POSITIVE_INFINITY).end;
    return this.parse(end, '', '');
  }

  private async container(open: '[' | '{'): Promise<JsonValue> {
    const close = CLOSING[open] as string;
    const list: JsonValue[] = [];
    const object: JsonObject = {};
    this.at += 1;
    for (let isFirst = true; ; isFirst = false) {
      await this.turns.pause();
      this.skipSpace();
      if (isFirst && this.text[this.at] === close) break;
      const { end, isWhole } = this.findEnd(this.at, WINDOW);
      if (isWhole) {
        const members = this.parse(end, open, close);
        if (open === '[') for (const member of members as JsonValue[]) list.push(member);
        else for (const [name, member] of Object.entries(members as JsonObject)) setMember(object, name, member);
      } else if (open === '[') list.push(await this.value());
      else await this.member(object);
      this.skipSpace();
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
    this.skipSpace();
    if (this.text[this.at] !== ':') throw new SyntaxError("Expected ':' after a property name");
    this.at += 1;
    setMember(object, name, await this.value());
  }

  /** As many whole members as fit into `most` characters from here on; not whole where the first alone is longer. */
  private findEnd(from: number, most: number): { end: number; isWhole: boolean } {
    const { text } = this;
    const last = Math.min(text.length, from + most);
    let depth = 0;
    let end = -1;
    for (let i = from; i < last; i++) {
      const c = text.charCodeAt(i);
      if (c === 0x22) i = endOfString(text, i + 1);
      else if (c === 0x5b || c === 0x7b) depth += 1;
      else if (c === 0x5d || c === 0x7d) {
        if (depth === 0) return { end: i, isWhole: true };
        depth -= 1;
      } else if (c === 0x2c && depth === 0) end = i;
    }
    if (end !== -1) return { end, isWhole: true };
    return { end: text.length, isWhole: most === Number.POSITIVE_INFINITY || last === text.length };
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
    const { text } = this;
    const from = this.at + 1;
    const end = endOfString(text, from);
    if (end >= text.length) throw new SyntaxError('Unterminated string');
    const pieces: string[] = [];
    for (let at = from; at < end; ) {
      const cut = at + WINDOW >= end ? end : beforeEscape(text, at + WINDOW);
      pieces.push(JSON.parse(`"${text.slice(at, cut)}"`) as string);
      at = cut;
      await this.turns.pause();
    }
    this.at = end + 1;
    return pieces.join('');
  }

  private skipSpace(): void {
    for (;;) {
      const c = this.text.charCodeAt(this.at);
      if (c !== 0x20 && c !== 0x0a && c !== 0x0d && c !== 0x09) return;
      this.at += 1;
    }
  }
}

/** `__proto__` is a name as any other. */
function setMember(object: JsonObject, name: string, value: JsonValue): void {
  if (name !== '__proto__') object[name] = value;
  else Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
}

/** Where a string can be cut near here without cutting an escape (`\n`, `A`). */
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

/** `JSON.stringify` in turns: UTF-8 bytes. Takes JSON values only. */
export async function stringifyJsonInTurns(value: unknown): Promise<Buffer<ArrayBuffer>> {
  const pieces: Buffer[] = [];
  await writeJsonInTurns(value, (piece) => pieces.push(piece));
  return Buffer.concat(pieces);
}

/** The same, piece by piece, for who need not have them all at once. */
export async function writeJsonInTurns(value: unknown, take: (piece: Buffer) => void): Promise<void> {
  const writer = new TurnWriter(take);
  await writer.write(value);
  writer.finish();
}

class TurnWriter {
  private text = '';
  private readonly turns = new Turns();

  constructor(private readonly take: (piece: Buffer) => void) {}

  async write(value: unknown): Promise<void> {
    if (weigh(value, WINDOW) >= 0) this.text += JSON.stringify(value) ?? 'null';
    else if (typeof value === 'string') await this.writeString(value);
    else if (Array.isArray(value)) await this.writeList(value);
    else await this.writeObject(value as Record<string, unknown>);
    if (this.text.length > WINDOW) await this.flush();
  }

  finish(): void {
    if (this.text !== '') this.take(Buffer.from(this.text));
  }

  private async writeList(list: readonly unknown[]): Promise<void> {
    let before = '[';
    for (const item of list) {
      this.text += before;
      before = ',';
      if (weigh(item, WINDOW) < 0) await this.write(item);
      else {
        this.text += JSON.stringify(item) ?? 'null';
        if (this.text.length > WINDOW) await this.flush();
      }
    }
    this.text += ']';
  }

  private async writeObject(object: Readonly<Record<string, unknown>>): Promise<void> {
    let before = '{';
    for (const name of Object.keys(object)) {
      const value = object[name];
      if (value === undefined) continue;
      this.text += `${before}${JSON.stringify(name)}:`;
      before = ',';
      await this.write(value);
    }
    this.text += before === '{' ? '{}' : '}';
  }

  private async writeString(value: string): Promise<void> {
    this.text += '"';
    for (let at = 0; at < value.length; ) {
      let cut = Math.min(value.length, at + WINDOW);
      if (cut < value.length && isHighSurrogate(value.charCodeAt(cut - 1))) cut -= 1;
      this.text += JSON.stringify(value.slice(at, cut)).slice(1, -1);
      at = cut;
      await this.flush();
    }
    this.text += '"';
  }

  private async flush(): Promise<void> {
    this.take(Buffer.from(this.text));
    this.text = '';
    await this.turns.pause();
  }
}

const isHighSurrogate = (code: number) => code >= 0xd800 && code < 0xdc00;

/** What is left of `budget` characters once the value is written, roughly; negative where it is too long. */
function weigh(value: unknown, budget: number): number {
  if (typeof value === 'string') return budget - value.length - 2;
  if (typeof value !== 'object' || value === null) return budget - 8;
  let left = budget - 2;
  if (Array.isArray(value)) {
    for (const item of value) {
      left = weigh(item, left);
      if (left < 0) return left;
    }
    return left;
  }
  for (const name in value) {
    left = weigh((value as Record<string, unknown>)[name], left - name.length - 3);
    if (left < 0) return left;
  }
  return left;
}

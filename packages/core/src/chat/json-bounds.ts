import { nextTurn } from '../async/time-slices';
import { invalidRequest } from '../errors/gateway-error';

/** Deeper than any real request or answer, and safe for everything that recurses. */
export const MAX_JSON_DEPTH = 200;
/** Maximum of values and separators: more would block other requests while parsing. */
export const MAX_JSON_TOKENS = 200_000;

/** Number of values that parse in one step, for any length. */
const MANY_TOKENS = 40_000;
/** Length that parses in one step, for any content. */
export const LARGE_JSON_LENGTH = 256 * 1024;

/** Longer numbers are never intended. */
const MAX_NUMBER_LENGTH = 1_000;
const MAX_NAME_LENGTH = 64 * 1024;
const MAX_SPACE_LENGTH = 64 * 1024;

export type JsonExcess = 'depth' | 'tokens' | 'length';

/** Limits of a JSON text. */
export interface JsonBounds {
  /** Values and separators. */
  readonly maxTokens: number;
  /** Lists, objects and names, each far costlier than a number; default: as many as tokens. */
  readonly maxParts?: number;
}

/** One event of a stream, which is parsed at once: some 20 ms at worst. */
export const EVENT_BOUNDS: JsonBounds = { maxTokens: 400_000, maxParts: 100_000 };
export const UNBOUNDED: JsonBounds = { maxTokens: Number.POSITIVE_INFINITY };
const REQUEST_BOUNDS: JsonBounds = { maxTokens: MAX_JSON_TOKENS };

const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const OPEN_LIST = 91;
const BACKSLASH = 92;
const CLOSE_LIST = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;
const SPACE = 32;
/** By character code; undefined for others. */
const STRUCTURE: readonly (true | undefined)[] = Array.from({ length: CLOSE_OBJECT + 1 }, (_, code) =>
  [COMMA, COLON, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT].includes(code) ? true : undefined,
);
/** Shorter texts parse instantly. */
export const HARMLESS_LENGTH = 16_384;
/** Characters looked through in one turn: some two milliseconds. */
const TURN_LENGTH = 256 * 1024;

/**
 * Finds the limit that a JSON text exceeds, before parsing; undefined within the limits or for malformed text. Skips
 * strings as a whole: a picture costs no more than finding its end.
 */
export function findJsonExcess(text: string, bounds = UNBOUNDED): JsonExcess | undefined {
  if (text.length < HARMLESS_LENGTH) return undefined;
  return new JsonLook(bounds).push(text);
}

/** Checks long texts in slices. */
export async function findJsonExcessInSlices(text: string, bounds = UNBOUNDED): Promise<JsonExcess | undefined> {
  return new JsonLook(bounds).pushInSlices(text);
}

/** Scans a text in pieces. */
export class JsonLook {
  /** Names of fields so far. */
  names = 0;
  /** Ends of the outermost value's members, by their place in the whole text. */
  readonly cuts: number[] = [];
  /** Values and separators so far. */
  tokens = 0;
  private depth = 0;
  /** Characters of earlier pieces. */
  private base = 0;
  private parts = 0;
  /** Length of the current number or word. */
  private plainLength = 0;
  /** White space since the last list, object, name or comma. */
  private spaceLength = 0;
  private isInString = false;
  /** True after a backslash in a string. */
  private isEscaped = false;
  /** Length of the current or last string. */
  private stringLength = 0;
  private readonly maxTokens: number;
  private readonly maxParts: number;

  constructor({ maxTokens, maxParts = maxTokens }: JsonBounds) {
    this.maxTokens = maxTokens;
    this.maxParts = maxParts;
  }

  get isOpen(): boolean {
    return this.isInString || this.depth > 0;
  }

  async pushInSlices(text: string): Promise<JsonExcess | undefined> {
    if (text.length <= TURN_LENGTH) return this.push(text);
    for (let at = 0; at < text.length; at += TURN_LENGTH) {
      const excess = this.push(text.slice(at, at + TURN_LENGTH));
      if (excess !== undefined) return excess;
      await nextTurn();
    }
    return undefined;
  }

  push(piece: string): JsonExcess | undefined {
    for (let at = this.isInString ? this.endOfString(piece, 0) + 1 : 0; at < piece.length; at++) {
      const code = piece.charCodeAt(at);
      if (code === QUOTE) {
        this.isInString = true;
        this.stringLength = 0;
        at = this.endOfString(piece, at + 1);
        continue;
      }
      if (STRUCTURE[code] === undefined) {
        if (code <= SPACE) {
          this.plainLength = 0;
          if (++this.spaceLength > MAX_SPACE_LENGTH) return 'length';
        } else if (++this.plainLength > MAX_NUMBER_LENGTH) return 'length';
        continue;
      }
      this.plainLength = 0;
      this.spaceLength = 0;
      const excess = this.take(code, at);
      if (excess !== undefined) return excess;
    }
    this.base += piece.length;
    return undefined;
  }

  private take(code: number, at: number): JsonExcess | undefined {
    if (code === CLOSE_LIST || code === CLOSE_OBJECT) {
      if (this.depth === 1) this.cuts.push(this.base + at);
      this.depth -= 1;
      return undefined;
    }
    if (code === COMMA && this.depth === 1) this.cuts.push(this.base + at);
    this.tokens += 2;
    if (code !== COMMA) this.parts += 1;
    if (code === COLON) {
      this.names += 1;
      if (this.stringLength > MAX_NAME_LENGTH) return 'length';
    } else if (code !== COMMA) {
      this.depth += 1;
      if (this.depth > MAX_JSON_DEPTH) return 'depth';
    }
    return this.tokens > this.maxTokens || this.parts > this.maxParts ? 'tokens' : undefined;
  }

  /** Index of the closing quote; the piece's length if it is in a later one. */
  private endOfString(piece: string, from: number): number {
    let at = this.isEscaped ? from + 1 : from;
    this.isEscaped = false;
    for (;;) {
      const quote = piece.indexOf('"', at);
      const end = quote < 0 ? piece.length : quote;
      let first = end;
      while (first > at && piece.charCodeAt(first - 1) === BACKSLASH) first -= 1;
      const isEscaped = (end - first) % 2 === 1;
      if (quote >= 0 && isEscaped) {
        at = quote + 1;
        continue;
      }
      this.isEscaped = isEscaped;
      this.isInString = quote < 0;
      this.stringLength += end - from;
      return end;
    }
  }
}

const SAID = {
  depth: `is nested more than ${MAX_JSON_DEPTH} levels deep. Flatten it.`,
  tokens: `holds more than ${MAX_JSON_TOKENS} JSON values and separators. Send it in parts.`,
  length: `holds a name or a space of more than ${MAX_NAME_LENGTH} characters, or a number of more than ${MAX_NUMBER_LENGTH}.`,
} as const satisfies Record<JsonExcess, string>;

/** Checks a request body and returns the scan; undefined for a short body. Throws `invalid_request` above a limit. */
export function checkJsonBounds(text: string): SeenRequest | undefined {
  if (text.length < HARMLESS_LENGTH) return undefined;
  const look = new JsonLook(REQUEST_BOUNDS);
  refuseExcess(look.push(text));
  const isLarge = look.tokens > MANY_TOKENS && text.length > LARGE_JSON_LENGTH;
  return { isLarge, names: look.names, cuts: look.cuts };
}

/** Facts from the scan of a JSON text. */
export interface SeenJson {
  /** Names of members at any depth. */
  readonly names: number;
  /** Ends of the outermost object's members. */
  readonly cuts: readonly number[];
}

export interface SeenRequest extends SeenJson {
  /** True if it has enough values to parse in slices. */
  readonly isLarge: boolean;
}

/** Checks a long text in pieces: stops before reading the rest of an excessive one. */
export class RequestBounds {
  private readonly look = new JsonLook(REQUEST_BOUNDS);

  /** A string, list or object was not closed yet. */
  get isOpen(): boolean {
    return this.look.isOpen;
  }

  /** True after many values. */
  get hasMany(): boolean {
    return this.look.tokens > MANY_TOKENS;
  }

  check(piece: string): void {
    refuseExcess(this.look.push(piece));
  }
}

function refuseExcess(excess: JsonExcess | undefined): void {
  if (excess !== undefined) throw invalidRequest('', `The request body ${SAID[excess]}`);
}

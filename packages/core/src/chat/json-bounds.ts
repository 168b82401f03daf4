import { invalidRequest } from '../errors/gateway-error';
import { nextTurn } from '../waits/in-turns';

/** Deeper than any real request or answer, and safe for everything that recurses. */
export const MAX_JSON_DEPTH = 200;
/** Values and separators of a request together: beyond them reading alone would hold up everybody else. */
export const MAX_JSON_TOKENS = 200_000;

export type JsonExcess = 'depth' | 'tokens';

/** What a JSON text may hold. */
export interface JsonBounds {
  /** Values and separators. */
  readonly maxTokens: number;
  /** Lists, objects and names, each of which takes many times what a number takes; default: as many as tokens. */
  readonly maxParts?: number;
}

/** One event of a stream, which is parsed at once: some 20 ms at worst. */
export const EVENT_BOUNDS: JsonBounds = { maxTokens: 400_000, maxParts: 100_000 };
const UNBOUNDED: JsonBounds = { maxTokens: Number.POSITIVE_INFINITY };
const REQUEST_BOUNDS: JsonBounds = { maxTokens: MAX_JSON_TOKENS };

const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const OPEN_LIST = 91;
const BACKSLASH = 92;
const CLOSE_LIST = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;
/** Shorter texts are parsed in no time, whatever is in them. */
const HARMLESS_LENGTH = 16_384;
/** Characters looked through in one turn: some two milliseconds. */
const TURN_LENGTH = 1024 * 1024;

/** Where a look through a text stands. */
interface Look {
  at: number;
  depth: number;
  tokens: number;
  parts: number;
}

const START: Look = { at: 0, depth: 0, tokens: 0, parts: 0 };

/**
 * What is too much of a JSON text, told before it is parsed; undefined for all else, malformed texts among them. Strings are
 * passed over as a whole: a picture costs no more than finding its end.
 */
export function findJsonExcess(text: string, bounds = UNBOUNDED): JsonExcess | undefined {
  if (text.length < HARMLESS_LENGTH) return undefined;
  return lookThrough(text, { ...START }, { end: text.length, ...bounds });
}

/** The same in turns, for long texts. */
export async function findJsonExcessInTurns(text: string, bounds = UNBOUNDED): Promise<JsonExcess | undefined> {
  const look = { ...START };
  for (let end = TURN_LENGTH; look.at < text.length; end = look.at + TURN_LENGTH) {
    const excess = lookThrough(text, look, { end: Math.min(end, text.length), ...bounds });
    if (excess !== undefined) return excess;
    await nextTurn();
  }
  return undefined;
}

function lookThrough(text: string, look: Look, most: JsonBounds & { end: number }): JsonExcess | undefined {
  const { maxTokens, maxParts = maxTokens } = most;
  let { at, depth, tokens, parts } = look;
  for (; at < most.end; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfString(text, at + 1);
        break;
      case OPEN_LIST:
      case OPEN_OBJECT:
        depth += 1;
        tokens += 2;
        parts += 1;
        if (depth > MAX_JSON_DEPTH) return 'depth';
        break;
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        depth -= 1;
        break;
      case COLON:
        parts += 1;
        tokens += 2;
        break;
      case COMMA:
        tokens += 2;
        break;
      default:
        continue;
    }
    if (tokens > maxTokens || parts > maxParts) return 'tokens';
  }
  Object.assign(look, { at, depth, tokens, parts });
  return undefined;
}

const SAID = {
  depth: `is nested more than ${MAX_JSON_DEPTH} levels deep. Flatten it.`,
  tokens: `holds more than ${MAX_JSON_TOKENS} JSON values and separators. Send it in parts.`,
} as const satisfies Record<JsonExcess, string>;

/** Throws `invalid_request` for a request body that is too much to parse. */
export function checkJsonBounds(text: string): void {
  refuseExcess(findJsonExcess(text, REQUEST_BOUNDS));
}

/** The same for a long text, in turns. */
export async function checkJsonBoundsInTurns(text: string): Promise<void> {
  refuseExcess(await findJsonExcessInTurns(text, REQUEST_BOUNDS));
}

function refuseExcess(excess: JsonExcess | undefined): void {
  if (excess !== undefined) throw invalidRequest('', `The request body ${SAID[excess]}`);
}

/** Index of the closing quote, or of the text's end. */
export function endOfString(text: string, from: number): number {
  for (let end = text.indexOf('"', from); end >= 0; end = text.indexOf('"', end + 1)) {
    let first = end;
    while (first > from && text.charCodeAt(first - 1) === BACKSLASH) first -= 1;
    if ((end - first) % 2 === 0) return end;
  }
  return text.length;
}

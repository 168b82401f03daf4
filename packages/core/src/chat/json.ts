import { findJsonExcess, type SeenJson } from './json-bounds';

/** Any JSON value, as `JSON.parse` gives it. */
export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };

export type JsonObject = { [key: string]: JsonValue };

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

type Present<T> = { [K in keyof T]: Exclude<T[K], undefined> };

/** The fields that are there. */
export function present<const T extends object>(fields: T): Present<T> {
  const there: Partial<T> = {};
  for (const name in fields) if (fields[name] !== undefined) there[name] = fields[name];
  return there as Present<T>;
}

/** Parses JSON; undefined for invalid or too deeply nested text. */
export function parseJson(text: string): JsonValue | undefined {
  if (findJsonExcess(text) !== undefined) return undefined;
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

/** The vendors' wire formats the gateway can forward without translating. */
export type WireFormat =
  | 'openai-chat'
  | 'openai-responses'
  | 'openai-completions'
  | 'anthropic-messages'
  | 'gemini-content'
  | 'bedrock-converse'
  | 'cohere-chat';

interface OriginalText {
  readonly whole: string;
  /** By name, in their order. */
  readonly members: ReadonlyMap<string, string>;
}

/** Texts that objects were parsed from. */
const TEXTS = new WeakMap<JsonObject, OriginalText>();

/** Shorter ones are written in no time. */
const WORTH_CHARACTERS = 32 * 1024;
const NAME = /\s*("(?:[^"\\]|\\.)*")\s*:/y;

/**
 * Remembers the texts of an object's members. Skips duplicate names: other readers may use the first, and this gateway
 * judges the last.
 */
export function noteMembers(value: JsonValue, text: string, { names, cuts }: SeenJson): void {
  if (text.length < WORTH_CHARACTERS || value === null || typeof value !== 'object' || Array.isArray(value)) return;
  if (countNames(value) !== names) return;
  const members = new Map<string, string>();
  let from = text.indexOf('{') + 1;
  for (const cut of cuts) {
    NAME.lastIndex = from;
    const name = NAME.exec(text)?.[1];
    if (name === undefined) return;
    members.set(JSON.parse(name) as string, text.slice(from, cut));
    from = cut + 1;
  }
  TEXTS.set(value, { whole: text, members });
}

/**
 * JSON of `body`, reusing members of `original`, or its whole text. Always a text: the runtime sends ASCII as it is, and
 * copies bytes.
 */
export function writeMembers(body: JsonObject, original: JsonObject | undefined): string {
  const known = original && TEXTS.get(original);
  if (original === undefined || known === undefined) return JSON.stringify(body);
  const { whole, members } = known;
  let written = '';
  let kept = 0;
  let names = 0;
  for (const name in body) {
    const value = body[name];
    if (value === undefined) continue;
    names += 1;
    const text = value === original[name] ? members.get(name) : undefined;
    if (text !== undefined) kept += 1;
    written += `${written === '' ? '{' : ','}${text ?? `${JSON.stringify(name)}:${JSON.stringify(value)}`}`;
  }
  if (kept === names && kept === members.size) return whole;
  return written === '' ? '{}' : `${written}}`;
}

function countNames(value: JsonValue): number {
  if (value === null || typeof value !== 'object') return 0;
  let names = 0;
  if (Array.isArray(value)) for (const item of value) names += countNames(item);
  else for (const name of Object.keys(value)) names += 1 + countNames(value[name] as JsonValue);
  return names;
}

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

/** Original texts of objects' members, by name. */
const TEXTS = new WeakMap<JsonObject, ReadonlyMap<string, string>>();

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
  TEXTS.set(value, members);
}

/** JSON of `body`, reusing members of `original`: bytes if it has long ones, else text. */
export function writeMembers(body: JsonObject, original: JsonObject | undefined): string | Uint8Array {
  const members = original && TEXTS.get(original);
  if (original === undefined || members === undefined) return JSON.stringify(body);
  const parts: string[] = [];
  for (const name of Object.keys(body)) {
    const value = body[name];
    if (value === undefined) continue;
    const text = value === original[name] ? members.get(name) : undefined;
    parts.push(text ?? `${JSON.stringify(name)}:${JSON.stringify(value)}`);
  }
  return joinBytes(parts);
}

/** Writes each part once: a joined text would be copied twice more, flattened and encoded. */
function joinBytes(parts: readonly string[]): Uint8Array {
  let size = 1 + Math.max(1, parts.length);
  for (const part of parts) size += Buffer.byteLength(part);
  const bytes = Buffer.allocUnsafeSlow(size);
  let at = bytes.write('{');
  for (const [index, part] of parts.entries()) {
    if (index > 0) at += bytes.write(',', at);
    at += bytes.write(part, at);
  }
  bytes.write('}', at);
  return bytes;
}

function countNames(value: JsonValue): number {
  if (value === null || typeof value !== 'object') return 0;
  let names = 0;
  if (Array.isArray(value)) for (const item of value) names += countNames(item);
  else for (const name of Object.keys(value)) names += 1 + countNames(value[name] as JsonValue);
  return names;
}

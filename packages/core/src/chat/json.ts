import { findJsonExcess } from './json-bounds';

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

/** The value of a JSON text; undefined for anything else, and for what is nested too deeply to be read safely. */
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
  | 'bedrock-converse';

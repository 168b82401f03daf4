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

import type { JsonObject, JsonValue } from '@llm0/core/chat/json';

/** The items of a list answer. */
export function dataOf(body: JsonObject, field = 'data'): readonly JsonValue[] {
  const data = body[field];
  return Array.isArray(data) ? data : [];
}

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

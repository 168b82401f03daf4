import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { type AdminClient, RequestFailed } from './admin-client';

/** The items of a list answer. */
export function dataOf(body: JsonObject, field = 'data'): readonly JsonValue[] {
  const data = body[field];
  return Array.isArray(data) ? data : [];
}

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const NOT_FOUND = 404;

/** One resource; undefined where there is none. */
export async function getIfThere(api: Pick<AdminClient, 'get'>, path: string): Promise<JsonObject | undefined> {
  try {
    return (await api.get(path)).body;
  } catch (error) {
    if (error instanceof RequestFailed && error.status === NOT_FOUND) return undefined;
    throw error;
  }
}

/** Everything of a list, page by page. */
export async function* everyOf(
  api: Pick<AdminClient, 'get'>,
  path: string,
  query: JsonObject = {},
): AsyncGenerator<JsonObject> {
  let cursor: string | null = null;
  do {
    const { body } = await api.get(path, { ...query, limit: 1000, cursor });
    for (const one of dataOf(body)) if (isObject(one)) yield one;
    cursor = typeof body.next_cursor === 'string' ? body.next_cursor : null;
  } while (cursor !== null);
}

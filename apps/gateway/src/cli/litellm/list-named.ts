import type { JsonObject } from '@llm0/core/chat/json';
import { everyOf } from '../read-list';
import type { ImportClient } from './apply-step';

/** By id or name; the oldest of equal names. */
export async function findNamed(api: ImportClient, path: string, idOrName: string): Promise<JsonObject | undefined> {
  let found: JsonObject | undefined;
  for await (const one of everyOf(api, path)) {
    if (one.id === idOrName) return one;
    if (one.name === idOrName && (found === undefined || isOlder(one, found))) found = one;
  }
  return found;
}

/**
 * Resolves concurrent imports: the oldest resource of a name stays, and this run deletes its own. Resolves to the
 * remaining one.
 */
export async function keepOldest(
  api: ImportClient,
  path: string,
  made: JsonObject,
  isAlike: (one: JsonObject) => boolean,
): Promise<JsonObject> {
  let oldest = made;
  for await (const one of everyOf(api, path)) if (isAlike(one) && isOlder(one, oldest)) oldest = one;
  if (oldest.id !== made.id) await api.delete(`${path}/${made.id}`);
  return oldest;
}

function isOlder(one: JsonObject, other: JsonObject): boolean {
  const [a, b] = [one, other].map(({ created_at: at }) => Date.parse(String(at)));
  return a === b ? String(one.id) < String(other.id) : Number(a) < Number(b);
}

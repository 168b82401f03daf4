import type { JsonObject } from '@llm0/core/chat/json';
import { everyOf } from '../read-list';
import type { ImportClient } from './apply-step';

/** By id or name; the first of equal names. */
export async function findNamed(api: ImportClient, path: string, idOrName: string): Promise<JsonObject | undefined> {
  const named: JsonObject[] = [];
  for await (const one of everyOf(api, path)) {
    if (one.id === idOrName) return one;
    if (one.name === idOrName) named.push(one);
  }
  return firstOf(api, named);
}

/** Creations that other imports may make at the same time. */
interface Created {
  readonly path: string;
  readonly made: JsonObject;
  readonly isAlike: (one: JsonObject) => boolean;
  /** In the audit log; absent = the resource's own id. */
  readonly idOf?: (one: JsonObject) => string;
}

/**
 * Resolves concurrent imports: the first resource of a name stays, and this run deletes its own. Resolves to the
 * remaining one.
 */
export async function keepFirst(api: ImportClient, { path, made, isAlike, idOf }: Created): Promise<JsonObject> {
  const alike = (await Array.fromAsync(everyOf(api, path))).filter(isAlike);
  const first = (await firstOf(api, alike, idOf)) ?? made;
  if (first.id !== made.id) await api.delete(`${path}/${made.id}`);
  return first;
}

/** By the audit log, whose times are in the order of commits; `created_at` is the start of a transaction. */
async function firstOf(
  api: ImportClient,
  alike: readonly JsonObject[],
  idOf = ({ id }: JsonObject) => String(id),
): Promise<JsonObject | undefined> {
  if (alike.length < 2) return alike[0];
  const timed = await Promise.all(alike.map(async (one) => ({ one, ms: await committedMs(api, idOf(one)) })));
  return timed.sort((a, b) => a.ms - b.ms)[0]?.one;
}

async function committedMs(api: ImportClient, id: string): Promise<number> {
  for await (const { created_at: at } of everyOf(api, '/audit', { resource_id: id, action: 'create' }))
    return Date.parse(String(at));
  return 0;
}

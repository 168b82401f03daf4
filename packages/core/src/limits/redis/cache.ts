import { fitsPurge, type PurgeableEntry } from '../cache-purge';
import type { CachePurge, CacheWrite } from '../hot-store';
import { cacheOwner, type ShardKeys } from './keys';
import type { RedisLink } from './link';
import { type RedisClient, runScript } from './scripts';

const SCAN_COUNT = 1000;

/** Facts of an entry in the format of `lua/cache/store.lua`. */
function parseFact(key: string, fact: string): PurgeableEntry {
  const [head = '', provider = '', model = ''] = fact.split('\t');
  const [, , storedAt, ...project] = head.split(' ');
  return { key, storedAtMs: Number(storedAt), projectId: project.join(' '), provider, model };
}

export interface PurgeScope {
  readonly client: RedisClient;
  readonly shards: readonly ShardKeys[];
  readonly nowMs: number;
}

/** Removes the entries that fit every given condition; reads facts only, never values. */
export async function purgeCache({ client, shards, nowMs }: PurgeScope, filter: CachePurge): Promise<number> {
  let removed = 0;
  for (const keys of shards) {
    if (filter.cacheKey !== undefined) {
      const { cacheKey } = filter;
      const fact = await client.hget(keys.cache[1], cacheKey);
      if (fact !== null && fitsPurge(parseFact(cacheKey, fact), filter, nowMs))
        removed += await removeEntries(client, keys, [cacheKey]);
      continue;
    }
    let cursor = '0';
    do {
      const [next, pairs] = await client.hscan(keys.cache[1], cursor, 'COUNT', SCAN_COUNT);
      const doomed: string[] = [];
      for (let i = 0; i + 1 < pairs.length; i += 2) {
        const entry = parseFact(pairs[i] ?? '', pairs[i + 1] ?? '');
        if (fitsPurge(entry, filter, nowMs)) doomed.push(entry.key);
      }
      if (doomed.length > 0) removed += await removeEntries(client, keys, doomed);
      cursor = next;
    } while (cursor !== '0');
  }
  return removed;
}

async function removeEntries(client: RedisClient, keys: ShardKeys, cacheKeys: readonly string[]): Promise<number> {
  return Number(await runScript(client, 'cacheRemove', [...keys.cache, ...cacheKeys]));
}

/** Expired entries are swept out first. `clock` '' = the server's. */
export async function countCache(
  client: RedisClient,
  shards: readonly ShardKeys[],
  clock: string | number,
): Promise<{ entries: number; bytes: number }> {
  let entries = 0;
  let bytes = 0;
  for (const keys of shards) {
    const [count, size] = (await runScript(client, 'cacheCount', [...keys.cache, clock])) as [number, number];
    entries += count;
    bytes += size;
  }
  return { entries, bytes };
}

type Link = Pick<RedisLink, 'isOpen' | 'keysOf' | 'clock'>;

/** Writes an entry without a settlement. */
export async function writeCache(
  client: RedisClient,
  link: Link,
  write: { readonly projectId: string; readonly entry: CacheWrite; readonly maxBytes: number },
): Promise<void> {
  const { projectId, entry, maxBytes } = write;
  const keys = link.keysOf(projectId);
  const store = [keys.epoch, ...keys.cache, keys.known.epoch, link.clock];
  const owner = cacheOwner(projectId, entry);
  await runScript(client, 'cacheWrite', [...store, entry.key, entry.value, entry.ttlMs, owner, maxBytes]);
}

/** Values by key; all undefined where Redis cannot be asked. */
export async function readCache(
  client: RedisClient,
  link: Link,
  { projectId, keys }: { readonly projectId: string; readonly keys: readonly string[] },
): Promise<readonly (string | undefined)[]> {
  const none = keys.map(() => undefined);
  if (!link.isOpen || keys.length === 0) return none;
  try {
    const shard = link.keysOf(projectId);
    const args = [shard.epoch, shard.cache[0], shard.known.epoch, link.clock, ...keys];
    const values = (await runScript(client, 'cacheRead', args)) as readonly (string | null)[];
    return keys.map((_key, index) => values[index] ?? undefined);
  } catch {
    return none;
  }
}

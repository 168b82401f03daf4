import type { CachePurge } from '@llm0/core/limits/hot-store';
import { type SQL, sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { exactCache, semanticCache } from '../../schema/caches';
import { countGone, hasSemanticCache } from '../count-gone';

export interface StoredCacheCounts {
  readonly exact: number;
  readonly semantic: number;
}

/** Removes matching entries of the warm exact tier and of the semantic cache. */
export async function purgeStoredCache(db: Db, filter: CachePurge, nowMs: number): Promise<StoredCacheCounts> {
  const where = conditions(filter, nowMs);
  const exact = await countGone(db, sql`delete from exact_cache where ${where}`);
  if (!(await hasSemanticCache(db))) return { exact, semantic: 0 };
  return { exact, semantic: await countGone(db, sql`delete from semantic_cache where ${where}`) };
}

/** Entries that have not expired. */
export async function countStoredCache(db: Db): Promise<StoredCacheCounts> {
  const good = sql`expires_at > now()`;
  const exact = await db.$count(exactCache, good);
  return { exact, semantic: (await hasSemanticCache(db)) ? await db.$count(semanticCache, good) : 0 };
}

function conditions(filter: CachePurge, nowMs: number): SQL {
  const parts: SQL[] = [];
  if (filter.projectId !== undefined) parts.push(sql`project_id = ${filter.projectId}::uuid`);
  if (filter.provider !== undefined) parts.push(sql`provider = ${filter.provider}`);
  if (filter.model !== undefined) parts.push(sql`model = ${filter.model}`);
  if (filter.cacheKey !== undefined) parts.push(sql`cache_key = ${filter.cacheKey}`);
  if (filter.olderThanMs !== undefined) {
    parts.push(sql`created_at <= to_timestamp(${nowMs - filter.olderThanMs}::float8 / 1000)`);
  }
  return parts.length === 0 ? sql`false` : sql.join(parts, sql` and `);
}

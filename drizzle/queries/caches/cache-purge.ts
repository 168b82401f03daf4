import type { CachePurge } from '@llm0/core/limits/hot-store';
import { type SQL, sql } from 'drizzle-orm';
import type { Db } from '../../client';

export interface StoredCacheCounts {
  readonly exact: number;
  readonly semantic: number;
}

/** Removes matching entries of the warm exact tier and of the semantic cache. */
export async function purgeStoredCache(db: Db, filter: CachePurge, nowMs: number): Promise<StoredCacheCounts> {
  const where = conditions(filter, nowMs);
  const exact = await countOf(
    db,
    sql`with gone as (delete from exact_cache where ${where} returning 1)
    select count(*)::int as n from gone`,
  );
  if (!(await hasSemanticCache(db))) return { exact, semantic: 0 };
  const semantic = await countOf(
    db,
    sql`with gone as (delete from semantic_cache where ${where} returning 1)
    select count(*)::int as n from gone`,
  );
  return { exact, semantic };
}

/** Entries that have not expired. */
export async function countStoredCache(db: Db): Promise<StoredCacheCounts> {
  const exact = await countOf(db, sql`select count(*)::int as n from exact_cache where expires_at > now()`);
  if (!(await hasSemanticCache(db))) return { exact, semantic: 0 };
  const semantic = await countOf(db, sql`select count(*)::int as n from semantic_cache where expires_at > now()`);
  return { exact, semantic };
}

/** The table exists only where Postgres has pgvector. */
async function hasSemanticCache(db: Db): Promise<boolean> {
  return (await countOf(db, sql`select (to_regclass('semantic_cache') is not null)::int as n`)) === 1;
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

async function countOf(db: Db, query: SQL): Promise<number> {
  const [row] = await db.execute<{ n: number }>(query);
  return row?.n ?? 0;
}

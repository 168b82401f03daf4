import { type SQL, sql } from 'drizzle-orm';
import type { Db } from '../client';

/** Runs a `delete` without `returning`; returns how many rows it took. */
export async function countGone(db: Db, deletion: SQL): Promise<number> {
  const [row] = await db.execute<{ n: number }>(
    sql`with gone as (${deletion} returning 1) select count(*)::int as n from gone`,
  );
  return row?.n ?? 0;
}

/** The table exists only where Postgres has pgvector. */
export async function hasSemanticCache(db: Db): Promise<boolean> {
  const [found] = await db.execute<{ present: boolean }>(
    sql`select to_regclass(quote_ident(current_schema()) || '.semantic_cache') is not null as present`,
  );
  return found?.present === true;
}

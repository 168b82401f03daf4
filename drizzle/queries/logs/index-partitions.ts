import { sql } from 'drizzle-orm';
import type { Db } from '../../client';

/** Of the whole table, made by a migration for partitions to come; what those before it still need. */
const INDEX = 'gateway_logs_estimated';
const COVERS = '(created_at) where cost_estimated';

/**
 * Makes the index of the newest partition that has none, while rows go on being written; returns the partition, null once all
 * have theirs. What was cut short before is made anew.
 */
export async function indexNextPartition(db: Db): Promise<string | null> {
  const [next] = await db.execute<{ table: string; left: boolean | null }>(sql`
    select c.relname as table, (select not x.indisvalid from pg_index x join pg_class i on i.oid = x.indexrelid
        where x.indrelid = c.oid and i.relname = c.relname || '_estimated') as left
    from pg_inherits p join pg_class c on c.oid = p.inhrelid
    where p.inhparent = 'gateway_logs'::regclass and not exists (
      select 1 from pg_index x join pg_inherits a on a.inhrelid = x.indexrelid
      where x.indrelid = c.oid and a.inhparent = ${INDEX}::regclass)
    order by c.relname desc limit 1`);
  if (next === undefined) return null;
  const own = sql.identifier(`${next.table}_estimated`);
  if (next.left === true) await db.execute(sql`drop index concurrently ${own}`);
  await db.execute(
    sql`create index concurrently if not exists ${own} on ${sql.identifier(next.table)} ${sql.raw(COVERS)}`,
  );
  await db.transaction(async (tx) => {
    // It needs the partition's new index alone for a moment: rather at the next run than hold up writers behind a reader.
    await tx.execute(sql`set local lock_timeout = '1s'`);
    await tx.execute(sql`alter index ${sql.identifier(INDEX)} attach partition ${own}`);
  });
  return next.table;
}

import { sql } from 'drizzle-orm';
import type { Db } from '../../client';

/**
 * Indexes for all partitions, by the end of their name. A migration creates them for new partitions; this job creates
 * them for old ones.
 */
const INDEXES = {
  estimated: '(created_at) where cost_estimated',
  guardrails: '(created_at) where guardrails is not null',
  run: '(run_id, created_at desc) where run_id is not null',
  trace: '(trace_id, created_at desc) where trace_id is not null',
} as const;
type IndexName = keyof typeof INDEXES;

/**
 * Indexes the newest partition that lacks an index, without blocking writes. Returns its name, or null at the end.
 * Rebuilds an index that an interruption left invalid.
 */
export async function indexNextPartition(db: Db): Promise<string | null> {
  for (const name of Object.keys(INDEXES) as IndexName[]) {
    const table = await indexNext(db, name);
    if (table !== null) return table;
  }
  return null;
}

async function indexNext(db: Db, name: IndexName): Promise<string | null> {
  const whole = `gateway_logs_${name}`;
  const [next] = await db.execute<{ table: string; left: boolean | null }>(sql`
    select c.relname as table, (select not x.indisvalid from pg_index x join pg_class i on i.oid = x.indexrelid
        where x.indrelid = c.oid and i.relname = c.relname || ${`_${name}`}::text) as left
    from pg_inherits p join pg_class c on c.oid = p.inhrelid
    where p.inhparent = 'gateway_logs'::regclass and not exists (
      select 1 from pg_index x join pg_inherits a on a.inhrelid = x.indexrelid
      where x.indrelid = c.oid and a.inhparent = ${whole}::regclass)
    order by c.relname desc limit 1`);
  if (next === undefined) return null;
  const own = sql.identifier(`${next.table}_${name}`);
  if (next.left === true) await db.execute(sql`drop index concurrently ${own}`);
  await db.execute(
    sql`create index concurrently if not exists ${own} on ${sql.identifier(next.table)} ${sql.raw(INDEXES[name])}`,
  );
  await db.transaction(async (tx) => {
    // Creating the index needs a short exclusive lock. It waits for the next run rather than blocking writers behind a
    // reader.
    await tx.execute(sql`set local lock_timeout = '1s'`);
    await tx.execute(sql`alter index ${sql.identifier(whole)} attach partition ${own}`);
  });
  return next.table;
}

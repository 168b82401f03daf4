import type { SQL } from 'drizzle-orm';
import { PgDialect } from 'drizzle-orm/pg-core';
import type { Db } from '../client';

const dialect = new PgDialect();

/**
 * Runs a statement that comes again and again: planned once a connection, one round trip instead of two. Its text must not
 * depend on its values (lists as one JSON parameter), for each text stays in the server's memory.
 */
export async function executePrepared<T extends Record<string, unknown>>(db: Db, query: SQL): Promise<readonly T[]> {
  const prepared = db._.session.prepareQuery(dialect.sqlToQuery(query), undefined, 'prepared', false);
  return (await prepared.execute()) as readonly T[];
}

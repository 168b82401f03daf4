import type { SQL } from 'drizzle-orm';
import { PgDialect } from 'drizzle-orm/pg-core';
import type { Db } from '../client';

const dialect = new PgDialect();

/**
 * Runs a frequent statement: planned once per connection, with one round trip instead of two. The text must not depend
 * on values (lists as one JSON parameter), because the server caches each text.
 */
export async function executePrepared<T extends Record<string, unknown>>(db: Db, query: SQL): Promise<readonly T[]> {
  const prepared = db._.session.prepareQuery(dialect.sqlToQuery(query), undefined, 'prepared', false);
  return (await prepared.execute()) as readonly T[];
}

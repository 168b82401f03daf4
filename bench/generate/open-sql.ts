import { connectDatabase, type Database } from '@llm0/drizzle/client';

export type Sql = Database['client'];
/** One statement after the other on one connection. */
export type SqlTransaction = Parameters<Parameters<Sql['begin']>[1]>[0];

/** Runs `use` on connections of its own to a database that a gateway has migrated. */
export async function withSql<T>(databaseUrl: string, use: (sql: Sql, database: Database) => Promise<T>): Promise<T> {
  const database = connectDatabase({ url: databaseUrl }, { maxConnections: 4 });
  try {
    return await use(database.client, database);
  } finally {
    await database.close();
  }
}

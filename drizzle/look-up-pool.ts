// Without Postgres, a look-up fails within `STATEMENT_TIMEOUT_MS`; only look-ups wait behind it.
import { type SQL, sql } from 'drizzle-orm';
import { PgDialect } from 'drizzle-orm/pg-core';
import { drizzle } from 'drizzle-orm/postgres-js';
import postgres, { type Row } from 'postgres';
import type { Db } from './client';

/** Runs the queries that requests wait for. */
export interface LookUps {
  read<T extends Row>(query: SQL): Promise<readonly T[]>;
  /** Reads by a vector index, scanning until it has enough rows. */
  readByIndex<T extends Row>(query: SQL): Promise<readonly T[]>;
}

/** On connections of their own. */
export interface LookUpPool extends LookUps {
  close(): Promise<void>;
}

const CONNECTIONS = 4;
const STATEMENT_TIMEOUT_MS = 500;
const INDEX_SETTINGS = { 'hnsw.iterative_scan': 'strict_order', 'hnsw.ef_search': '100', enable_sort: 'off' } as const;

/**
 * A few connections, opened by the first query. Statements are prepared and the index's settings belong to the connection:
 * one round trip a query. Without sorting the index is always taken where the query allows it, and only there.
 */
export function openLookUpPool(url: string): LookUpPool {
  const client = postgres(url, {
    max: CONNECTIONS,
    idle_timeout: 0,
    max_lifetime: null,
    connect_timeout: 2,
    backoff: (attempt: number) => Math.min(0.05 * 2 ** attempt, 1),
    onnotice: () => {},
    fetch_types: false,
    connection: {
      application_name: 'llm0-gateway-look-up',
      TimeZone: 'UTC',
      statement_timeout: STATEMENT_TIMEOUT_MS,
      // A plan for any group at all would fit none of them.
      plan_cache_mode: 'force_custom_plan',
      ...INDEX_SETTINGS,
    },
  });
  // Dates and JSON have the same form as in other queries.
  drizzle(client);
  const dialect = new PgDialect();
  const read = async <T extends Row>(query: SQL): Promise<readonly T[]> => {
    const { sql: text, params } = dialect.sqlToQuery(query);
    return await client.unsafe<T[]>(text, params as postgres.ParameterOrJSON<never>[], { prepare: true });
  };
  return { read, readByIndex: read, close: () => client.end({ timeout: 2 }) };
}

/** On the shared connections, with settings for one query only. */
export function sharedLookUps(db: Db): LookUps {
  return {
    read: async <T extends Row>(query: SQL) => (await db.execute(query)) as unknown as readonly T[],
    readByIndex: <T extends Row>(query: SQL) =>
      db.transaction(async (tx) => {
        const settings = Object.entries(INDEX_SETTINGS).map(
          ([name, value]) => sql`set_config(${name}, ${value}, true)`,
        );
        await tx.execute(sql`select ${sql.join(settings, sql`, `)}`);
        return (await tx.execute(query)) as unknown as readonly T[];
      }),
  };
}

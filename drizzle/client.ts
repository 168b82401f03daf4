// Postgres unreachable: queries fail at once or within `connect_timeout`; the client reconnects by itself, callers retry.
import type { PgDatabase } from 'drizzle-orm/pg-core';
import { drizzle, type PostgresJsQueryResultHKT } from 'drizzle-orm/postgres-js';
import postgres from 'postgres';

/**
 * What every query takes: the database or a transaction of it. `drizzle()` makes the client hand dates and JSON through
 * as text: use typed columns, or pass `JSON.stringify(…)` with a `::jsonb` cast and epoch milliseconds.
 */
export type Db = PgDatabase<PostgresJsQueryResultHKT, Record<string, never>>;

export interface Database {
  readonly db: Db;
  /** The bare client, for advisory locks on a reserved connection (`postgres` only) and for migrations. */
  readonly client: postgres.Sql;
  readonly kind: 'postgres' | 'embedded';
  /** Round trip in milliseconds; throws when Postgres does not answer. */
  ping(): Promise<number>;
  close(): Promise<void>;
}

/** A real server's URL, or the socket of the embedded one (which serves one connection at a time). */
export type DatabaseAddress = { readonly url: string } | { readonly socketPath: string };

export interface ConnectOptions {
  /** Connections to a real server. */
  readonly maxConnections?: number;
}

const RECONNECT_CEILING_SECONDS = 1;

/** Connects lazily: the first query opens the connection. */
export function connectDatabase(address: DatabaseAddress, options: ConnectOptions = {}): Database {
  const embedded = 'socketPath' in address;
  const common = {
    max: embedded ? 1 : (options.maxConnections ?? 10),
    idle_timeout: 0,
    max_lifetime: null,
    connect_timeout: 5,
    backoff: (attempt: number) => Math.min(0.05 * 2 ** attempt, RECONNECT_CEILING_SECONDS),
    onnotice: () => {},
  } as const;
  const client = embedded
    ? postgres({
        ...common,
        path: address.socketPath,
        host: 'localhost',
        database: 'postgres',
        username: 'postgres',
        password: '',
        ssl: false,
      })
    : postgres(address.url, {
        ...common,
        connection: { application_name: 'llm0-gateway', TimeZone: 'UTC' },
      });
  const db = drizzle(client);
  return {
    db,
    client,
    kind: embedded ? 'embedded' : 'postgres',
    async ping() {
      const start = performance.now();
      await client`select 1`;
      return performance.now() - start;
    },
    close: () => client.end({ timeout: 5 }),
  };
}

// Postgres unreachable: queries fail at once or within `connect_timeout`; the client reconnects by itself, callers retry.
import type { PgDatabase } from 'drizzle-orm/pg-core';
import { drizzle, type PostgresJsQueryResultHKT } from 'drizzle-orm/postgres-js';
import postgres from 'postgres';

/**
 * The database or a transaction. `drizzle()` returns dates and JSON as text. Use typed columns, or pass
 * `JSON.stringify(…)` with a `::jsonb` cast and epoch milliseconds.
 */
export type Db = PgDatabase<PostgresJsQueryResultHKT, Record<string, never>>;

/** `ledger`: jobs that rows and money depend on; `maintenance`: clean-up, alerts and checks. */
export type LedWork = 'ledger' | 'maintenance';

export interface Database {
  readonly db: Db;
  /** The bare client, for advisory locks on a reserved connection (`postgres` only) and for migrations. */
  readonly client: postgres.Sql;
  readonly kind: 'postgres' | 'embedded';
  /**
   * Takes or renews the leader lock of this work; call every few seconds. True = this process leads. Throws without
   * Postgres. An embedded database has one gateway, which leads.
   */
  tryLead(work: LedWork): Promise<boolean>;
  /** Lets another gateway lead, in everything. */
  stopLeading(): Promise<void>;
  /** Round trip in milliseconds; throws when Postgres does not answer, or takes no changes (a standby, as after a failover). */
  ping(): Promise<number>;
  close(): Promise<void>;
}

/** A real server's URL, or the socket of the embedded one (which serves one connection at a time). */
export type DatabaseAddress = { readonly url: string } | { readonly socketPath: string };

export interface ConnectOptions {
  /** Connections to a real server. */
  readonly maxConnections?: number;
}

/** The client's own goes up to 20 s, in which a database that is back would not be used. */
const reconnectSeconds = (attempt: number): number => Math.min(0.05 * 2 ** attempt, 1);
/**
 * On each new connection the client would ask for array types, and a server that goes away just then would end the whole
 * process (https://github.com/porsager/postgres/issues/1192). Drizzle's columns read arrays by themselves.
 */
const NO_TYPES = { fetch_types: false } as const;

/** Connects lazily: the first query opens the connection. */
export function connectDatabase(address: DatabaseAddress, options: ConnectOptions = {}): Database {
  const embedded = 'socketPath' in address;
  const common = {
    max: embedded ? 1 : (options.maxConnections ?? 10),
    idle_timeout: 0,
    max_lifetime: null,
    connect_timeout: 5,
    backoff: reconnectSeconds,
    onnotice: () => {},
    ...NO_TYPES,
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
  const leadership = createSessionLocks(embedded ? undefined : address.url, LEADER_LOCKS);
  return {
    db,
    client,
    kind: embedded ? 'embedded' : 'postgres',
    ...leadership,
    async ping() {
      const start = performance.now();
      const [row] = await client<{ is_read_only: boolean }[]>`
        SELECT pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on' AS is_read_only`;
      if (row?.is_read_only === true) throw new Error('it is read-only and takes no changes');
      return performance.now() - start;
    },
    close: async () => {
      await leadership.stopLeading();
      await client.end({ timeout: 5 });
    },
  };
}

interface Leadership<W extends string> {
  tryLead(work: W): Promise<boolean>;
  stopLeading(): Promise<void>;
}

const ALWAYS_LEADS: Leadership<string> = { tryLead: async () => true, stopLeading: async () => {} };
const LEADER_LOCKS: Readonly<Record<LedWork, number>> = { ledger: 7_107_330_004, maintenance: 7_107_330_010 };

/**
 * Session locks on a separate connection. A lost connection loses them, and the next call opens a new session. Postgres
 * lets a session take its lock again. Without a URL there is a single gateway.
 */
export function createSessionLocks<W extends string>(
  url: string | undefined,
  locks: Readonly<Record<W, number>>,
): Leadership<W> {
  if (url === undefined) return ALWAYS_LEADS;
  let session: postgres.Sql | undefined;
  return {
    async tryLead(work) {
      session ??= postgres(url, {
        max: 1,
        idle_timeout: 0,
        max_lifetime: null,
        connect_timeout: 5,
        backoff: reconnectSeconds,
        onnotice: () => {},
        ...NO_TYPES,
      });
      const [row] = await session<{ held: boolean }[]>`
        select exists (
          select 1 from pg_locks where locktype = 'advisory' and pid = pg_backend_pid() and granted
            and (classid::bigint << 32 | objid::bigint) = ${locks[work]}::bigint
        ) or pg_try_advisory_lock(${locks[work]}::bigint) as held`;
      return row?.held === true;
    },
    async stopLeading() {
      const ending = session;
      session = undefined;
      await ending?.end({ timeout: 2 });
    },
  };
}

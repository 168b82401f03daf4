// Postgres unreachable or slow: a look-up fails within `STATEMENT_TIMEOUT_MS`; nobody but other look-ups waits behind it.
import { drizzle } from 'drizzle-orm/postgres-js';
import postgres from 'postgres';
import type { Db } from './client';

export interface LookUpPool {
  readonly db: Db;
  close(): Promise<void>;
}

const CONNECTIONS = 4;
const STATEMENT_TIMEOUT_MS = 500;

/** A few connections of their own for what requests wait for; opened by the first query. */
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
    },
  });
  return { db: drizzle(client), close: () => client.end({ timeout: 2 }) };
}

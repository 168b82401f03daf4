// Loaded only where an address of ClickHouse is set.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ClickHouseClient } from '@clickhouse/client';
import { addLabelColumns } from '../queries/clickhouse/label-columns';
import { listMigrations, recordMigration } from '../queries/clickhouse/migrations';

export interface ClickHouseOptions {
  /** `http://host:8123` or `https://…`, without user and database. */
  readonly url: string;
  readonly username: string;
  readonly password: string;
  readonly database: string;
  /** Names of labels that have a column of their own; none by default. */
  readonly hotLabels?: readonly string[];
}

const TIMEOUT_MS = 30_000;
const MIGRATIONS = join(import.meta.dir, 'migrations');

/** Connects, and makes the tables that are missing. Throws while the server is away. */
export async function openClickHouse({ hotLabels = [], ...options }: ClickHouseOptions): Promise<ClickHouseClient> {
  const { ClickHouseLogLevel, createClient } = await import('@clickhouse/client');
  // Errors reach the caller; the client would write them to the console too.
  const log = { level: ClickHouseLogLevel.OFF };
  const client = createClient({ ...options, log, request_timeout: TIMEOUT_MS, application: 'llm0-gateway' });
  try {
    await migrateClickHouse(client);
    await addLabelColumns(client, hotLabels);
    return client;
  } catch (error) {
    await client.close();
    throw error;
  }
}

/** Applies what the server lacks. Every statement may run twice: ClickHouse has no transaction around them. */
export async function migrateClickHouse(client: ClickHouseClient): Promise<void> {
  const done = await listMigrations(client);
  for (const name of (await readdir(MIGRATIONS)).sort()) {
    if (done.has(name)) continue;
    const text = await Bun.file(join(MIGRATIONS, name)).text();
    for (const query of text.split(';').filter((part) => part.trim() !== '')) await client.command({ query });
    await recordMigration(client, name);
  }
}

import type { ClickHouseClient } from '@clickhouse/client';

/** Names of the applied ones. */
export async function listMigrations(client: ClickHouseClient): Promise<ReadonlySet<string>> {
  await client.command({
    query: 'create table if not exists llm0_migrations (name String) engine = MergeTree order by name',
  });
  const found = await client.query({ query: 'select name from llm0_migrations', format: 'JSONEachRow' });
  return new Set((await found.json<{ name: string }>()).map(({ name }) => name));
}

export async function recordMigration(client: ClickHouseClient, name: string): Promise<void> {
  await client.insert({ table: 'llm0_migrations', values: [{ name }], format: 'JSONEachRow' });
}

import type { ClickHouseClient } from '@clickhouse/client';

/** Days after which ClickHouse deletes. */
export interface KeptDays {
  readonly logRetentionDays: number;
  readonly logBodiesTtlDays: number;
}

/** Longer than in Postgres, which keeps whole days: what is there can be compared. */
const MORE_DAYS = 2;

/** Sets when rows and bodies are deleted, where that changed: setting it again would go through all parts. */
export async function keepFor(
  client: ClickHouseClient,
  { logRetentionDays, logBodiesTtlDays }: KeptDays,
): Promise<void> {
  const wanted = {
    gateway_logs: logRetentionDays + MORE_DAYS,
    tool_calls: logRetentionDays + MORE_DAYS,
    gateway_log_bodies: logBodiesTtlDays + MORE_DAYS,
  } as const;
  const found = await client.query({
    query: `select name, engine_full from system.tables
      where database = currentDatabase() and name in ('${Object.keys(wanted).join("', '")}')`,
    format: 'JSONEachRow',
  });
  for (const { name, engine_full: engine } of await found.json<{ name: keyof typeof wanted; engine_full: string }>()) {
    if (engine.includes(`toIntervalDay(${wanted[name]})`)) continue;
    const query = `alter table ${name} modify ttl toDateTime(created_at) + toIntervalDay(${wanted[name]})`;
    await client.command({ query, clickhouse_settings: { materialize_ttl_after_modify: 0 } });
  }
}

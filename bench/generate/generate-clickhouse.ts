import type { ClickHouseClient } from '@clickhouse/client';

export const PROJECTS = 50;
const DAY_MS = 86_400_000;
const ROWS_AN_INSERT = 500_000;
/** A limit of an earlier question holds on in chdb. */
const UNLIMITED = { max_execution_time: 0 } as const;

interface ClickHouseRows {
  readonly rows: number;
  readonly days: number;
  /** End of the last day. */
  readonly nowMs: number;
}

/** Rows of `numbers()`, in the order of time; one in a hundred is corrected later. */
export async function generateClickHouse(
  chdb: Pick<ClickHouseClient, 'command'>,
  { rows, days, nowMs }: ClickHouseRows,
): Promise<void> {
  const firstMs = nowMs - days * DAY_MS;
  const stepMs = (days * DAY_MS) / rows;
  for (let from = 0; from < rows; from += ROWS_AN_INSERT) {
    const ms = `toUInt64(${firstMs} + number * ${stepMs})`;
    const hex = (value: string, digits: number) =>
      `substring(leftPad(lower(hex(${value})), 16, '0'), ${17 - digits}, ${digits})`;
    const time = hex(ms, 12);
    const id = `concat(substring(${time}, 1, 8), '-', substring(${time}, 9, 4), '-7', ${hex('rand64(1)', 3)}, '-8', ${hex('rand64(2)', 3)},
      '-', ${hex('rand64(3)', 12)})`;
    await chdb.command({
      clickhouse_settings: UNLIMITED,
      query: `insert into gateway_logs (id, created_at, project_id, api_key_id, dialect, model, requested_model, provider, final_provider,
          tokens_in, tokens_out, tokens_total, cost_usd, latency_ms, overhead_ms, upstream_ms, ttft_ms, stream, cache_hit, status, http_status,
          error_code, customer_id, labels, attempts, batch)
        select toUUID(${id}), fromUnixTimestamp64Milli(toInt64(${ms})),
          toUUID(concat('00000000-0000-4000-8000-0000000000', lower(leftPad(hex(toUInt8(number * number % ${PROJECTS})), 2, '0')))),
          toUUID(concat('00000000-0000-4000-8000-0000000001', lower(leftPad(hex(toUInt8(number % 200)), 2, '0')))),
          'openai-chat', concat('model-', toString(number % 12)) as model, model, concat('vendor-', toString(number % 4)) as vendor, vendor,
          200 + rand(4) % 3000 as tin, 20 + rand(5) % 600 as tout, tin + tout, toDecimal64(tin * 0.00000015 + tout * 0.0000006, 9),
          round(300 + rand(6) % 4000 + rand(7) % 1000 / 1000, 3) as latency, round(0.5 + rand(8) % 3000 / 1000, 3), latency - 1,
          if(number % 3 = 0, null, latency / 4), number % 2 = 0, number % 10 = 0, if(number % 50 = 0, 'error', 'success'),
          if(number % 50 = 0, 502, 200), if(number % 50 = 0, 'upstream_error', null), concat('customer-', toString(rand(9) % 1000)),
          map('team', concat('team-', toString(number % 20)), 'env', if(number % 5 = 0, 'test', 'live')), null, ${from}
        from numbers(${from}, ${Math.min(ROWS_AN_INSERT, rows - from)})`,
    });
    console.error(`${Math.min(rows, from + ROWS_AN_INSERT)} rows`);
  }
  await chdb.command({
    clickhouse_settings: UNLIMITED,
    query: `insert into gateway_logs select * replace (cost_usd + 1 as cost_usd, ${rows} as batch)
    from gateway_logs where cityHash64(id) % 100 = 0 and created_at > now() - interval 10 day`,
  });
}

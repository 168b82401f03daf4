import { sql } from 'drizzle-orm';

/** Row columns for statistics, with a tool call's values: money, but no request or duration. */
const COLUMNS = {
  created_at: 'created_at',
  project_id: 'project_id',
  api_key_id: 'api_key_id',
  customer_id: 'customer_id',
  model: `server || '__' || tool`,
  provider: `'mcp:' || server`,
  final_provider: 'null::text',
  status: 'status',
  error_code: 'null::text',
  labels: 'labels',
  modality: `'tool'`,
  dialect: 'null::text',
  refused_count: '0',
  tokens_in: '0::bigint',
  tokens_out: '0::bigint',
  tokens_cache_read: '0::bigint',
  tokens_cache_write: '0::bigint',
  tokens_reasoning: '0::bigint',
  cost_usd: 'cost_usd',
  saved_usd: '0::numeric',
  cache_hit: 'false',
  semantic_cache_hit: 'false',
  failover_count: '0',
  latency_ms: 'null::float8',
  ttft_ms: 'null::float8',
  overhead_ms: 'null::float8',
  upstream_ms: 'null::float8',
} as const;

const entries = Object.entries(COLUMNS);
const selected = (toText: (value: string) => string) =>
  entries.map(([name, value]) => `${toText(value)} as ${name}`).join(', ');
const PAID = 'cost_usd <> 0';

/** Rows of requests, as far as statistics read them. */
export const REQUESTS_AS_ROWS = sql.raw(`select ${entries.map(([name]) => name).join(', ')} from gateway_logs`);

/** Tool calls with costs, in the shape of requests' rows; matches `moneyFact`. */
export const CALLS_AS_ROWS = sql.raw(`select ${selected((value) => value)} from tool_calls where ${PAID}`);

/** Types of Postgres as ClickHouse calls them. */
const TYPES: Readonly<Record<string, string>> = {
  ...{ 'null::text': 'null::Nullable(String)', 'null::float8': 'null::Nullable(Float64)' },
  ...{ '0::bigint': 'toUInt64(0)', '0::numeric': 'toDecimal64(0, 9)' },
};

/** The same in ClickHouse. */
export const CALLS_AS_ROWS_ELSEWHERE = sql.raw(
  `(select ${selected((value) => TYPES[value] ?? value)} from tool_calls final where ${PAID})`,
);

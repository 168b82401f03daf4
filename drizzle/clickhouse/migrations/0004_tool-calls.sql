-- The columns of Postgres's tool_calls, and the batch as in gateway_logs.
create table if not exists tool_calls (
  id UUID,
  created_at DateTime64(3, 'UTC') codec(Delta, ZSTD),
  project_id UUID codec(ZSTD),
  api_key_id UUID codec(ZSTD),
  customer_id Nullable(String) codec(ZSTD),
  labels Map(LowCardinality(String), String) codec(ZSTD),
  request_id UUID alias id,
  client_request_id Nullable(String) codec(ZSTD),
  run_id String codec(ZSTD),
  server_id UUID codec(ZSTD),
  server LowCardinality(String),
  tool LowCardinality(String),
  status LowCardinality(String),
  is_error Bool,
  error_code LowCardinality(Nullable(String)),
  error_message Nullable(String) codec(ZSTD),
  latency_ms Float64 codec(ZSTD),
  bytes_in UInt64 codec(T64, ZSTD),
  bytes_out UInt64 codec(T64, ZSTD),
  cost_usd Decimal(18, 9) codec(T64, ZSTD),
  guardrails Nullable(String) codec(ZSTD),
  trace_id Nullable(String) codec(ZSTD),
  batch UInt64 codec(Delta, ZSTD),
  index id_filter id type bloom_filter(0.01) granularity 1,
  index batch_range batch type minmax granularity 1,
  index run_filter run_id type bloom_filter(0.01) granularity 1,
  index trace_filter trace_id type bloom_filter(0.01) granularity 1
) engine = ReplacingMergeTree(batch)
partition by toYYYYMM(created_at)
order by (created_at, id)
settings non_replicated_deduplication_window = 1000;

-- The columns of Postgres's gateway_logs, and the batch that a row came with. A corrected row comes again with a later one.
create table if not exists gateway_logs (
  id UUID,
  created_at DateTime64(3, 'UTC') codec(Delta, ZSTD),
  project_id UUID codec(ZSTD),
  api_key_id UUID codec(ZSTD),
  request_id UUID alias id,
  client_request_id Nullable(String) codec(ZSTD),
  dialect LowCardinality(String),
  model LowCardinality(String),
  requested_model LowCardinality(String),
  provider LowCardinality(Nullable(String)),
  final_provider LowCardinality(Nullable(String)),
  tokens_in UInt64 codec(T64, ZSTD),
  tokens_out UInt64 codec(T64, ZSTD),
  tokens_total UInt64 codec(T64, ZSTD),
  tokens_cache_read UInt64 codec(T64, ZSTD),
  tokens_cache_write UInt64 codec(T64, ZSTD),
  tokens_reasoning UInt64 codec(T64, ZSTD),
  cost_usd Decimal(18, 9) codec(T64, ZSTD),
  saved_usd Decimal(18, 9) codec(T64, ZSTD),
  cost_detail Nullable(String) codec(ZSTD(3)),
  cost_estimated Bool,
  latency_ms Float64 codec(ZSTD),
  overhead_ms Nullable(Float64) codec(ZSTD),
  upstream_ms Nullable(Float64) codec(ZSTD),
  ttft_ms Nullable(Float64) codec(ZSTD),
  stream Bool,
  cache_hit Bool,
  semantic_cache_hit Bool,
  similarity_score Nullable(Float32) codec(ZSTD),
  failover_count UInt32 codec(T64, ZSTD),
  failover_occurred Bool,
  attempts Nullable(String) codec(ZSTD(3)),
  status LowCardinality(String),
  http_status UInt16 codec(ZSTD),
  error_code LowCardinality(Nullable(String)),
  error_message Nullable(String) codec(ZSTD),
  customer_id Nullable(String) codec(ZSTD),
  labels Map(LowCardinality(String), String) codec(ZSTD),
  refused_count Nullable(UInt32) codec(ZSTD),
  matched_by Nullable(UUID) codec(ZSTD),
  dropped_params Nullable(String) codec(ZSTD),
  run_id Nullable(String) codec(ZSTD),
  guardrails Nullable(String) codec(ZSTD),
  trace_id Nullable(String) codec(ZSTD),
  modality LowCardinality(Nullable(String)),
  units Nullable(String) codec(ZSTD),
  routing Nullable(String) codec(ZSTD),
  batch UInt64 codec(Delta, ZSTD),
  index id_filter id type bloom_filter(0.01) granularity 1,
  index batch_range batch type minmax granularity 1
) engine = ReplacingMergeTree(batch)
partition by toYYYYMM(created_at)
order by (created_at, id)
settings non_replicated_deduplication_window = 1000;

create table if not exists gateway_log_bodies (
  id UUID,
  created_at DateTime64(3, 'UTC') codec(Delta, ZSTD),
  project_id UUID codec(ZSTD),
  request_body Nullable(String) codec(ZSTD(3)),
  response_body Nullable(String) codec(ZSTD(3)),
  batch UInt64 codec(Delta, ZSTD),
  index id_filter id type bloom_filter(0.01) granularity 1
) engine = ReplacingMergeTree(batch)
partition by toYYYYMM(created_at)
order by (created_at, id)
settings non_replicated_deduplication_window = 1000;

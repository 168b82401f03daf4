-- One row for every request that passed auth. Partitions are made ahead by a job and on demand by the log insert.
-- No foreign keys: rows outlive their projects and are written in bulk.
CREATE TABLE gateway_logs (
  id uuid NOT NULL,
  created_at timestamptz(3) NOT NULL,
  project_id uuid NOT NULL,
  api_key_id uuid NOT NULL,
  request_id uuid NOT NULL,
  client_request_id text,
  dialect text NOT NULL,
  model text NOT NULL,
  requested_model text NOT NULL,
  provider text,
  final_provider text,
  tokens_in bigint NOT NULL,
  tokens_out bigint NOT NULL,
  tokens_total bigint NOT NULL,
  tokens_cache_read bigint NOT NULL,
  tokens_cache_write bigint NOT NULL,
  tokens_reasoning bigint NOT NULL,
  cost_usd numeric(20,9) NOT NULL,
  saved_usd numeric(20,9) NOT NULL,
  cost_detail jsonb,
  cost_estimated boolean NOT NULL,
  latency_ms double precision NOT NULL,
  overhead_ms double precision,
  upstream_ms double precision,
  ttft_ms double precision,
  stream boolean NOT NULL,
  cache_hit boolean NOT NULL,
  semantic_cache_hit boolean NOT NULL,
  similarity_score real,
  failover_count integer NOT NULL,
  failover_occurred boolean NOT NULL,
  attempts jsonb,
  status text NOT NULL,
  http_status integer NOT NULL,
  error_code text,
  error_message text,
  customer_id text,
  labels jsonb,
  PRIMARY KEY (created_at, id)
) PARTITION BY RANGE (created_at);
CREATE INDEX gateway_logs_request ON gateway_logs (request_id);
CREATE INDEX gateway_logs_project ON gateway_logs (project_id, created_at DESC, id DESC);
CREATE INDEX gateway_logs_customer ON gateway_logs (customer_id, created_at DESC) WHERE customer_id IS NOT NULL;

-- Every switch from one target to the next.
CREATE TABLE failover_logs (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  created_at timestamptz(3) NOT NULL,
  project_id uuid NOT NULL,
  request_id uuid NOT NULL,
  switch_index integer NOT NULL,
  original_provider text NOT NULL,
  original_model text NOT NULL,
  fallback_provider text NOT NULL,
  fallback_model text NOT NULL,
  trigger_reason text NOT NULL,
  trigger_status_code integer,
  trigger_error_message text,
  original_attempt_latency_ms double precision,
  fallback_latency_ms double precision,
  total_latency_ms double precision,
  fallback_succeeded boolean NOT NULL,
  fallback_error_message text,
  UNIQUE (request_id, switch_index)
);
CREATE INDEX failover_logs_newest ON failover_logs (created_at DESC);
CREATE INDEX failover_logs_project ON failover_logs (project_id, created_at DESC);

CREATE TABLE gateway_log_bodies (
  request_id uuid PRIMARY KEY,
  created_at timestamptz(3) NOT NULL,
  project_id uuid NOT NULL,
  request_body jsonb,
  response_body jsonb
);
CREATE INDEX gateway_log_bodies_newest ON gateway_log_bodies (created_at DESC);

-- One row for every call of a tool that passed auth, kept as gateway_logs is: partitions are made ahead by a job and on demand
-- by the log insert, and dropped as a whole. No foreign keys: rows outlive their projects and servers and are written in bulk.
CREATE TABLE tool_calls (
  id uuid NOT NULL,
  created_at timestamptz(3) NOT NULL,
  project_id uuid NOT NULL,
  api_key_id uuid NOT NULL,
  customer_id text,
  labels jsonb,
  request_id uuid NOT NULL,
  client_request_id text,
  run_id text NOT NULL,
  server_id uuid NOT NULL,
  server text NOT NULL,
  tool text NOT NULL,
  status text NOT NULL,
  is_error boolean NOT NULL,
  error_code text,
  error_message text,
  latency_ms double precision NOT NULL,
  bytes_in bigint NOT NULL,
  bytes_out bigint NOT NULL,
  cost_usd numeric(20,9) NOT NULL,
  PRIMARY KEY (created_at, id)
) PARTITION BY RANGE (created_at);
CREATE INDEX tool_calls_request ON tool_calls (request_id);
CREATE INDEX tool_calls_project ON tool_calls (project_id, created_at DESC, id DESC);
CREATE INDEX tool_calls_key ON tool_calls (api_key_id, created_at DESC, id DESC);
CREATE INDEX tool_calls_tool ON tool_calls (server, tool, created_at DESC);
CREATE INDEX tool_calls_run ON tool_calls (run_id, created_at DESC);
CREATE INDEX tool_calls_customer ON tool_calls (customer_id, created_at DESC) WHERE customer_id IS NOT NULL;

-- Calls by server and tool; the tool is '' for calls that never reached one, whose names callers may invent. Hours are kept
-- 90 d, days for good. What calls cost stands in the other roll-ups too, in rows that count no request.
CREATE TABLE rollup_tool_hour (
  bucket timestamptz(3) NOT NULL,
  project_id uuid NOT NULL,
  api_key_id uuid NOT NULL,
  server text NOT NULL,
  tool text NOT NULL,
  status text NOT NULL,
  calls bigint NOT NULL,
  errors bigint NOT NULL,
  bytes_in bigint NOT NULL,
  bytes_out bigint NOT NULL,
  cost_usd numeric(20,9) NOT NULL,
  latency_histogram bytea NOT NULL,
  PRIMARY KEY (bucket, project_id, api_key_id, server, tool, status)
);
CREATE TABLE rollup_tool_day (LIKE rollup_tool_hour INCLUDING ALL);

-- What groups the requests and calls of one agent's run. Partitions of before get the index from a job.
ALTER TABLE gateway_logs ADD COLUMN run_id text;
CREATE INDEX gateway_logs_run ON ONLY gateway_logs (run_id, created_at DESC) WHERE run_id IS NOT NULL;

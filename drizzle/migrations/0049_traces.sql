-- The W3C trace a request or call belongs to. Partitions of before get the index from a job.
ALTER TABLE gateway_logs ADD COLUMN trace_id text;
CREATE INDEX gateway_logs_trace ON ONLY gateway_logs (trace_id, created_at DESC) WHERE trace_id IS NOT NULL;
ALTER TABLE tool_calls ADD COLUMN trace_id text;

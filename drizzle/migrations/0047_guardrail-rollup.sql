-- What guardrails found, by rule: exact counts, written in the log insert's transaction. Hours are kept 90 days, days for good.
CREATE TABLE rollup_guardrail_hour (
  bucket timestamptz(3) NOT NULL,
  project_id uuid NOT NULL,
  rule text NOT NULL,
  side text NOT NULL,
  check_type text NOT NULL,
  action text NOT NULL,
  -- done, watched (nothing was done about it), failed or timeout (the check could not be made).
  outcome text NOT NULL,
  -- Requests and tool calls in which it happened.
  requests bigint NOT NULL,
  matches bigint NOT NULL,
  ms double precision NOT NULL,
  PRIMARY KEY (bucket, project_id, rule, side, check_type, action, outcome)
);
CREATE TABLE rollup_guardrail_day (LIKE rollup_guardrail_hour INCLUDING ALL);

-- Few rows have any. Partitions of before get the index from a job; of tool calls they have none to find.
CREATE INDEX gateway_logs_guardrails ON ONLY gateway_logs (created_at) WHERE guardrails IS NOT NULL;
CREATE INDEX tool_calls_guardrails ON ONLY tool_calls (created_at) WHERE guardrails IS NOT NULL;


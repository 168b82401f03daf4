-- Percentiles of hours that are over, ranked beforehand like rollup_durations, but kept 8 days: what a day and a week are
-- charted in. A metric's number holds the bins of p50, p95 and p99, 10 bits each from the lowest; none = nothing measured.
-- Once by project and once over all (project 0). They are made by a job.
CREATE TABLE rollup_durations_hour (
  bucket timestamptz(3) NOT NULL,
  dimension text NOT NULL,
  project_id uuid NOT NULL,
  name text NOT NULL,
  latency integer,
  ttft integer,
  overhead integer,
  upstream integer,
  PRIMARY KEY (bucket, dimension, project_id, name)
);
-- An hour's rows stand while customer_spend_hour_changes counts as many changes as when they were made.
CREATE TABLE rollup_durations_hour_made (
  bucket timestamptz(3) PRIMARY KEY,
  made_at_changes bigint
);

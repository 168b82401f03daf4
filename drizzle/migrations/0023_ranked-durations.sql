-- Percentiles of closed days, ranked beforehand: by project or over all, in all or by key, model, provider or status.
-- p50, p95, p99 = bins. Steps of 3, 12 and 24 hours have histograms too, so that they can be added up further.
CREATE TABLE rollup_durations (
  step_hours smallint NOT NULL,
  dimension text NOT NULL,
  metric text NOT NULL,
  project_id uuid NOT NULL,
  bucket timestamptz(3) NOT NULL,
  name text NOT NULL,
  p50 smallint NOT NULL,
  p95 smallint NOT NULL,
  p99 smallint NOT NULL,
  histogram bigint[],
  PRIMARY KEY (step_hours, dimension, metric, project_id, bucket, name)
);
-- A day's rows stand while as many changes had come to it when they were made as now. They are made by a job.
CREATE TABLE rollup_durations_day (
  day date PRIMARY KEY,
  changes bigint NOT NULL DEFAULT 0,
  made_at_changes bigint
);

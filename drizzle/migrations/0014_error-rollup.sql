-- What failed or was refused, by hour and code: `status` alone does not say whose fault it was.
CREATE TABLE rollup_error (
  bucket timestamptz(3) NOT NULL,
  project_id uuid NOT NULL,
  model text NOT NULL,
  provider text NOT NULL,
  status text NOT NULL,
  error_code text NOT NULL,
  requests bigint NOT NULL,
  PRIMARY KEY (bucket, project_id, model, provider, status, error_code)
);
INSERT INTO rollup_error
SELECT date_trunc('hour', created_at AT TIME ZONE 'UTC') AT TIME ZONE 'UTC', project_id, model,
  coalesce(final_provider, provider, ''), status, error_code, count(*)
FROM gateway_logs WHERE error_code IS NOT NULL GROUP BY 1, 2, 3, 4, 5, 6;

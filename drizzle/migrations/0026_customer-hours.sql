-- Sums of hours that are over by customer ('' = requests of none): what customers are ranked and drawn by over parts of days.
-- Once by project and once of all projects together (project 0). They are made by a job and kept 8 days.
CREATE TABLE customer_spend_hour (
  bucket timestamptz(3) NOT NULL,
  project_id uuid NOT NULL,
  customer_id text NOT NULL,
  request_count bigint NOT NULL,
  tokens_in bigint NOT NULL,
  tokens_out bigint NOT NULL,
  tokens_cache_read bigint NOT NULL,
  tokens_cache_write bigint NOT NULL,
  tokens_reasoning bigint NOT NULL,
  total_spend_usd numeric(20,9) NOT NULL,
  saved_usd numeric(20,9) NOT NULL,
  PRIMARY KEY (bucket, project_id, customer_id)
);
-- How many changes came to an hour after it was over; none without a row. Apart from what is made, so that nobody who
-- writes rows waits for the job.
CREATE TABLE customer_spend_hour_changes (
  bucket timestamptz(3) PRIMARY KEY,
  changes bigint NOT NULL
);
-- An hour's sums stand while as many changes have come to it as when they were made.
CREATE TABLE customer_spend_hour_made (
  bucket timestamptz(3) PRIMARY KEY,
  made_at_changes bigint
);

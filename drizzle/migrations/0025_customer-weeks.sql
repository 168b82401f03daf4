-- Sums of weeks that are over (from Monday, UTC) by customer: what ranges over weeks are ranked by. They are made by a job.
CREATE TABLE customer_spend_week (
  week date NOT NULL,
  project_id uuid NOT NULL,
  customer_id text NOT NULL,
  request_count bigint NOT NULL,
  tokens_in bigint NOT NULL,
  tokens_out bigint NOT NULL,
  total_spend_usd numeric(20,9) NOT NULL,
  saved_usd numeric(20,9) NOT NULL,
  PRIMARY KEY (week, project_id, customer_id)
);
-- The days of the same weeks, all customers together.
CREATE TABLE customer_spend_total (
  date date NOT NULL,
  project_id uuid NOT NULL,
  request_count bigint NOT NULL,
  tokens_in bigint NOT NULL,
  tokens_out bigint NOT NULL,
  total_spend_usd numeric(20,9) NOT NULL,
  saved_usd numeric(20,9) NOT NULL,
  PRIMARY KEY (date, project_id)
);
-- A week's sums stand while rollup_durations_day counts as many changes of its days as when they were made.
CREATE TABLE customer_spend_week_made (
  week date PRIMARY KEY,
  made_at_changes bigint
);

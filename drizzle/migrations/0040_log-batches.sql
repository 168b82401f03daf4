-- Which rows came in together, in the order they were committed: requests that took long stand in `gateway_logs` at the time
-- they began, and whoever watches what comes in would miss them. Kept for an hour.
CREATE TABLE log_batches (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  -- [request's time in epoch milliseconds, id], as in `gateway_logs`.
  entries jsonb NOT NULL
);

-- How many requests came in together, and how many failed through no fault of their callers: the dashboard draws both live.
ALTER TABLE log_batches
  ADD COLUMN requests integer NOT NULL DEFAULT 0,
  ADD COLUMN failed integer NOT NULL DEFAULT 0;

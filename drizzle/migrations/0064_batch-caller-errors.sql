-- How many requests of a batch failed through a fault of their callers: the dashboard shows them live.
ALTER TABLE log_batches ADD COLUMN caller_errors integer NOT NULL DEFAULT 0;

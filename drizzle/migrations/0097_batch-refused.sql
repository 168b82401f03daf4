-- How many requests of a batch a limit refused: the dashboard shows them live.
ALTER TABLE log_batches ADD COLUMN refused integer NOT NULL DEFAULT 0;

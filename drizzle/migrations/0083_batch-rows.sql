-- Costs of a batch by the rows of its lines: attempts that a dead process had begun are among them.
ALTER TABLE batches ADD COLUMN rows_usd numeric(20, 9) NOT NULL DEFAULT 0;

-- Tokens of a batch by the rows of its lines: attempts that a dead process had begun are among them.
ALTER TABLE batches ADD COLUMN rows_tokens_in bigint NOT NULL DEFAULT 0, ADD COLUMN rows_tokens_out bigint NOT NULL DEFAULT 0,
  ADD COLUMN rows_tokens_cached bigint NOT NULL DEFAULT 0, ADD COLUMN rows_tokens_reasoning bigint NOT NULL DEFAULT 0;

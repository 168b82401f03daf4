-- Batches that a vendor runs, and the places of its results in the file store.
ALTER TABLE batches ADD COLUMN forwarded jsonb;
ALTER TABLE batch_lines ADD COLUMN result_at bigint, ADD COLUMN result_length integer;

-- Rows of a batch that Postgres doesn't store (LOG_POSTGRES_DAYS=0), until the stores of rows have them. Ids and costs stay
-- for a while: a record may come again.
CREATE TABLE log_lines (
  -- Of `log_batches`.
  seq bigint PRIMARY KEY,
  stored_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  rows integer NOT NULL,
  -- Time of the first and last request in epoch milliseconds.
  first_ms bigint NOT NULL,
  last_ms bigint NOT NULL,
  -- Whether rows of earlier batches are replaced.
  corrects boolean NOT NULL,
  -- Of each row its id (16 bytes), cost in nano-USD and time (8 bytes each), and a byte that is 1 after a lost process.
  entries bytea NOT NULL,
  -- Rows as JSON lines in zstd; null once every store has them.
  lines bytea
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500,
  toast.autovacuum_vacuum_scale_factor = 0, toast.autovacuum_vacuum_threshold = 20000);
-- Both are as small as they get.
ALTER TABLE log_lines ALTER entries SET STORAGE EXTERNAL, ALTER lines SET STORAGE EXTERNAL;
CREATE INDEX log_lines_waiting ON log_lines (seq) WHERE lines IS NOT NULL;

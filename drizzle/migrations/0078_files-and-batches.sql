-- Callers' files, whose bytes are in the file store, and their batches of requests with a ledger of lines.
CREATE TABLE files (
  id uuid PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects (id),
  api_key_id uuid NOT NULL,
  name text NOT NULL,
  purpose text NOT NULL,
  bytes bigint NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  expires_at timestamptz(3)
);
CREATE INDEX files_of_project ON files (project_id, created_at DESC, id DESC);
CREATE INDEX files_by_expiry ON files (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE batches (
  id uuid PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects (id),
  api_key_id uuid NOT NULL,
  dialect text NOT NULL,
  endpoint text NOT NULL,
  status text NOT NULL,
  input_file_id uuid NOT NULL,
  output_file_id uuid,
  error_file_id uuid,
  headers jsonb NOT NULL DEFAULT '{}',
  metadata jsonb,
  errors jsonb,
  total integer NOT NULL DEFAULT 0,
  completed integer NOT NULL DEFAULT 0,
  failed integer NOT NULL DEFAULT 0,
  expired integer NOT NULL DEFAULT 0,
  cancelled integer NOT NULL DEFAULT 0,
  bound_usd numeric(20, 9) NOT NULL DEFAULT 0,
  cost_usd numeric(20, 9) NOT NULL DEFAULT 0,
  tokens_in bigint NOT NULL DEFAULT 0,
  tokens_out bigint NOT NULL DEFAULT 0,
  output_expires_after_seconds integer,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  expires_at timestamptz(3) NOT NULL,
  in_progress_at timestamptz(3),
  cancelling_at timestamptz(3),
  finalizing_at timestamptz(3),
  ended_at timestamptz(3)
);
CREATE INDEX batches_of_project ON batches (project_id, created_at DESC, id DESC);
CREATE INDEX batches_newest ON batches (created_at DESC, id DESC);
CREATE INDEX batches_open ON batches (expires_at) WHERE ended_at IS NULL;

CREATE TABLE batch_lines (
  batch_id uuid NOT NULL REFERENCES batches (id) ON DELETE CASCADE,
  line integer NOT NULL,
  custom_id text NOT NULL,
  -- Its place in the input file.
  at bigint NOT NULL,
  length integer NOT NULL,
  bound_usd numeric(20, 9) NOT NULL,
  state text NOT NULL DEFAULT 'waiting',
  -- The run of a chunk that may end it.
  owner uuid,
  request_id uuid,
  http_status smallint,
  cost_usd numeric(20, 9),
  tokens_in integer,
  tokens_out integer,
  -- Until the output file has it.
  answer text,
  PRIMARY KEY (batch_id, line)
);

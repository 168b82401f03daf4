-- Secrets for sessions of browsers: they open sessions as their key does, for minutes. Several sessions may use one.
CREATE TABLE realtime_secrets (
  -- SHA-256, lower-case hex.
  secret_hash text PRIMARY KEY,
  api_key_id uuid NOT NULL,
  model text NOT NULL,
  -- JSON of the session's first settings; of headers about its customer, run and labels.
  session text NOT NULL,
  headers text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  expires_at timestamptz(3) NOT NULL
);
CREATE INDEX realtime_secrets_expires ON realtime_secrets (expires_at);

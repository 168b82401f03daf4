-- One row for each Idempotency-Key within its 24 hours: claimed by a request under way, then its answer.
CREATE TABLE idempotency_keys (
  api_key_id uuid NOT NULL,
  -- SHA-256 of the caller's key and of the request, lower-case hex.
  key_hash text NOT NULL,
  body_hash text NOT NULL,
  state text NOT NULL CHECK (state IN ('pending', 'done')),
  -- Who may complete or release it; a claim past its lease has no owner any more.
  owner uuid NOT NULL,
  lease_until timestamptz(3) NOT NULL,
  -- Text of a StoredAnswer: as text, because jsonb can not hold everything JSON can.
  answer text,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  expires_at timestamptz(3) NOT NULL,
  PRIMARY KEY (api_key_id, key_hash)
);
CREATE INDEX idempotency_keys_expires ON idempotency_keys (expires_at);

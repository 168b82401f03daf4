-- Plain HTTP services behind /infer/<name>. Headers may hold secrets and are sealed as a whole: AES-256-GCM (nonce,
-- ciphertext, tag), bound to the row's id.
CREATE TABLE backends (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  name text NOT NULL UNIQUE,
  url text NOT NULL,
  encrypted_headers bytea,
  encryption_key_id text,
  header_names jsonb NOT NULL DEFAULT '[]',
  price_per_request_usd numeric(20, 9) NOT NULL DEFAULT 0 CHECK (price_per_request_usd >= 0),
  timeout_ms integer NOT NULL DEFAULT 30000,
  retries integer NOT NULL DEFAULT 1,
  cache_enabled boolean NOT NULL DEFAULT true,
  -- null = as CACHE_TTL says.
  cache_ttl_seconds integer,
  is_active boolean NOT NULL DEFAULT true,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now()
);

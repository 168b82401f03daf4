-- Keys of a provider are several, each with a row of its own; headers may hold secrets and are sealed as a whole.
ALTER TABLE providers DROP COLUMN encrypted_key;
ALTER TABLE providers ADD COLUMN encrypted_headers bytea;
ALTER TABLE providers ADD COLUMN encryption_key_id text;
ALTER TABLE providers ADD COLUMN header_names jsonb NOT NULL DEFAULT '[]';
-- Names of the models it serves; their prices are in model_pricing.
ALTER TABLE providers ADD COLUMN models jsonb NOT NULL DEFAULT '[]';

-- project_id null = for every project. encrypted_key is AES-256-GCM: nonce, ciphertext and tag, bound to the row's id.
CREATE TABLE provider_keys (
  id uuid PRIMARY KEY,
  provider text NOT NULL,
  project_id uuid REFERENCES projects (id),
  name text NOT NULL,
  last_characters text NOT NULL,
  encryption_key_id text NOT NULL,
  encrypted_key bytea NOT NULL,
  is_active boolean NOT NULL DEFAULT true,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now()
);
CREATE INDEX provider_keys_newest ON provider_keys (provider, created_at DESC, id DESC);

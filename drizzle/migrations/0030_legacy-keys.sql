-- Keys taken over from llm0-gateway, which kept bcrypt alone. Until such a key is used, `api_keys.key_hash` is `stand_in`, the
-- hash of nothing anybody has; then it becomes the SHA-256 of the key, and `bcrypt_hash` goes. Rows stay: they say which
-- other forms of keys there are.
CREATE TABLE legacy_keys (
  api_key_id uuid PRIMARY KEY REFERENCES api_keys (id) ON DELETE CASCADE,
  lookup text NOT NULL CHECK (lookup <> ''),
  bcrypt_hash text,
  stand_in text NOT NULL
);

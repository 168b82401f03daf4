-- The secret before the last rotation, where it keeps working for a while.
ALTER TABLE api_keys
  ADD COLUMN previous_key_hash text UNIQUE,
  ADD COLUMN previous_secret_expires_at timestamptz(3);

-- Keys that wait for an admin of their team: is_active is false until then, so releases that don't know of it refuse them too.
ALTER TABLE teams ADD COLUMN key_approval boolean NOT NULL DEFAULT false;
ALTER TABLE api_keys ADD COLUMN requested_at timestamptz(3);
CREATE INDEX api_keys_requested ON api_keys (requested_at) WHERE requested_at IS NOT NULL;

-- When the issuer last authenticated the person of a session; null = unknown, as in sessions of older releases.
ALTER TABLE admin_sessions ADD COLUMN authenticated_at timestamptz(3);

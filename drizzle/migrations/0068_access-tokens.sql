-- Signed tokens of identity providers in place of a key. What somebody sends to a project counts on a key of theirs there,
-- whose secret nobody has: limits, rows and versions are those of any key.
ALTER TABLE identity_providers ADD COLUMN jwt jsonb;
ALTER TABLE users ADD COLUMN default_project_id uuid REFERENCES projects (id) ON DELETE SET NULL;
ALTER TABLE api_keys ADD COLUMN is_sign_on boolean NOT NULL DEFAULT false;
CREATE UNIQUE INDEX api_keys_sign_on ON api_keys (user_id, project_id) WHERE is_sign_on AND deleted_at IS NULL;

-- Providers that may answer for a key, and for everything below a level; null = every provider.
ALTER TABLE organizations ADD COLUMN allowed_providers jsonb;
ALTER TABLE teams ADD COLUMN allowed_providers jsonb;
ALTER TABLE users ADD COLUMN allowed_providers jsonb;
ALTER TABLE projects ADD COLUMN allowed_providers jsonb;
ALTER TABLE api_keys ADD COLUMN allowed_providers jsonb;

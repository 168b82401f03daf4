-- `drain`: requests under way end, new ones skip the provider.
ALTER TABLE providers ADD COLUMN drain boolean NOT NULL DEFAULT false;
-- Requests that may be under way at once, in all processes together: at a provider, and with one of its keys.
ALTER TABLE providers ADD COLUMN max_concurrency integer CHECK (max_concurrency > 0);
ALTER TABLE provider_keys ADD COLUMN max_concurrency integer CHECK (max_concurrency > 0);
-- Milliseconds between two free questions whether a provider works; null = none is asked.
ALTER TABLE providers ADD COLUMN health_check_interval_ms integer CHECK (health_check_interval_ms > 0);
-- Milliseconds that a project's requests may wait for a limit instead of a 429; null = they don't.
ALTER TABLE projects ADD COLUMN queue_timeout_ms integer CHECK (queue_timeout_ms > 0);

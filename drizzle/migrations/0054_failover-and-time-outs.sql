-- Whether others may be asked than the named one, by project and key, and how long a provider may take.
ALTER TABLE projects ADD COLUMN failover text CHECK (failover IN ('on', 'off'));
ALTER TABLE api_keys ADD COLUMN failover text CHECK (failover IN ('on', 'off'));
ALTER TABLE providers ADD COLUMN request_timeout_ms integer CHECK (request_timeout_ms > 0);
ALTER TABLE providers ADD COLUMN answer_timeout_ms integer CHECK (answer_timeout_ms > 0);

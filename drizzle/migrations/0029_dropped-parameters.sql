-- What callers may leave to the gateway, by project and key, and what a request lost by it.
ALTER TABLE projects ADD COLUMN cache_tool_calls boolean NOT NULL DEFAULT false;
ALTER TABLE projects ADD COLUMN drop_params boolean;
ALTER TABLE api_keys ADD COLUMN drop_params boolean;
ALTER TABLE gateway_logs ADD COLUMN dropped_params jsonb;

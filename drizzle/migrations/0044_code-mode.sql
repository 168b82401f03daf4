-- Who may run scripts over the tools of their MCP servers.
ALTER TABLE projects ADD COLUMN code_mode boolean NOT NULL DEFAULT false;
ALTER TABLE api_keys ADD COLUMN code_mode boolean;

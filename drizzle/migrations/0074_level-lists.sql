-- Limits of everything below an organization, a team or a user: native APIs and MCP tools that it may use at most (null =
-- no limit), and guardrails in addition to those of projects and keys.
ALTER TABLE organizations ADD COLUMN passthrough jsonb;
ALTER TABLE organizations ADD COLUMN allowed_tools jsonb;
ALTER TABLE organizations ADD COLUMN guardrail_rules jsonb;
ALTER TABLE teams ADD COLUMN passthrough jsonb;
ALTER TABLE teams ADD COLUMN allowed_tools jsonb;
ALTER TABLE teams ADD COLUMN guardrail_rules jsonb;
ALTER TABLE users ADD COLUMN passthrough jsonb;
ALTER TABLE users ADD COLUMN allowed_tools jsonb;
ALTER TABLE users ADD COLUMN guardrail_rules jsonb;

-- Requests and tokens a minute of organizations, teams and users, over all that is below them.
ALTER TABLE organizations ADD COLUMN rate_limit_per_minute integer, ADD COLUMN tokens_per_minute integer;
ALTER TABLE teams ADD COLUMN rate_limit_per_minute integer, ADD COLUMN tokens_per_minute integer;
ALTER TABLE users ADD COLUMN rate_limit_per_minute integer, ADD COLUMN tokens_per_minute integer;

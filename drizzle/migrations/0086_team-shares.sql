-- Parts of teams' monthly budgets that are kept for a project. With overdraft, it may also take of what no share claims.
ALTER TABLE projects ADD COLUMN team_share_usd numeric(20,9), ADD COLUMN team_overdraft boolean NOT NULL DEFAULT true;
CREATE INDEX projects_shares ON projects (team_id) WHERE team_share_usd IS NOT NULL;

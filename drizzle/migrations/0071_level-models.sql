-- Models that everything below an organization, a team, a user or a project may call; null = every model.
ALTER TABLE organizations ADD COLUMN allowed_models jsonb;
ALTER TABLE teams ADD COLUMN allowed_models jsonb;
ALTER TABLE users ADD COLUMN allowed_models jsonb;
ALTER TABLE projects ADD COLUMN allowed_models jsonb;

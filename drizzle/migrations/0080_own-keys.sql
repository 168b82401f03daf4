-- Keys that work only while their user may have keys in the project. An admin may give a key to somebody without a role.
ALTER TABLE api_keys ADD COLUMN follows_role boolean NOT NULL DEFAULT false;
UPDATE api_keys k SET follows_role = true
  FROM projects p JOIN teams t ON t.id = p.team_id
  WHERE p.id = k.project_id AND k.user_id IS NOT NULL AND (k.is_sign_on OR EXISTS (
    SELECT 1 FROM team_members m JOIN teams own ON own.id = m.team_id
    WHERE m.user_id = k.user_id AND (m.role = 'system_admin' OR (m.role = 'org_admin' AND own.organization_id = t.organization_id)
      OR (m.role IN ('team_admin', 'member') AND m.team_id = t.id))));

-- What an admin set or approved for the key of a user, by inner names: the user may be stricter only. null = nothing.
ALTER TABLE api_keys ADD COLUMN bounds jsonb;

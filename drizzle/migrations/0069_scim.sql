-- People and groups that an identity provider sends by SCIM. user_name null = not sent by it; scim = what else it gets back.
-- is_email_verified: whether the issuer of the last sign-in vouches for the address.
ALTER TABLE users ADD COLUMN user_name text;
ALTER TABLE users ADD COLUMN external_id text;
ALTER TABLE users ADD COLUMN scim jsonb;
ALTER TABLE users ADD COLUMN is_email_verified boolean NOT NULL DEFAULT false;
CREATE UNIQUE INDEX users_user_name ON users (lower(user_name));
CREATE INDEX users_external_id ON users (external_id) WHERE external_id IS NOT NULL;

-- group_roles refer to groups by name, so a name is there once.
CREATE TABLE scim_groups (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  display_name text NOT NULL UNIQUE,
  external_id text,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now()
);
CREATE TABLE scim_group_members (
  group_id uuid NOT NULL REFERENCES scim_groups (id) ON DELETE CASCADE,
  user_id uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  PRIMARY KEY (group_id, user_id)
);
CREATE INDEX scim_group_members_user ON scim_group_members (user_id);

-- By a group of SCIM: no sign-in takes it away, and the group does at once.
ALTER TABLE team_members ADD COLUMN is_from_scim boolean NOT NULL DEFAULT false;

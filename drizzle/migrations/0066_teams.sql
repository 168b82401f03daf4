-- Who owns a project, who may sign in, and as what. Each table is a level that others refer to; memberships have a role,
-- so they are rows of their own. An older release writes projects without a team: they join the default one.
CREATE TABLE organizations (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  name text NOT NULL UNIQUE,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now()
);
CREATE INDEX organizations_newest ON organizations (created_at DESC, id DESC);

CREATE TABLE teams (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  organization_id uuid NOT NULL REFERENCES organizations (id),
  name text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  UNIQUE (organization_id, name)
);
CREATE INDEX teams_newest ON teams (created_at DESC, id DESC);

INSERT INTO organizations (id, name) VALUES ('00000000-0000-4000-8000-000000000001', 'default');
INSERT INTO teams (id, organization_id, name)
  VALUES ('00000000-0000-4000-8000-000000000002', '00000000-0000-4000-8000-000000000001', 'default');

-- Issuers of OpenID Connect. The one of the environment has a row too, for its group_roles; its secret stays there.
CREATE TABLE identity_providers (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  name text NOT NULL UNIQUE,
  issuer text NOT NULL UNIQUE,
  client_id text NOT NULL,
  encrypted_secret bytea,
  encryption_key_id text,
  scopes text NOT NULL,
  groups_claim text NOT NULL,
  group_roles jsonb NOT NULL DEFAULT '[]',
  is_from_environment boolean NOT NULL DEFAULT false,
  is_active boolean NOT NULL DEFAULT true,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now()
);

-- Issuer and subject are a person's identity; null until the first sign-in.
CREATE TABLE users (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  issuer text,
  subject text,
  email text,
  name text NOT NULL,
  is_active boolean NOT NULL DEFAULT true,
  last_sign_in_at timestamptz(3),
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  UNIQUE (issuer, subject)
);
CREATE INDEX users_newest ON users (created_at DESC, id DESC);
CREATE INDEX users_email ON users (lower(email));

-- identity_provider_id null = added by hand; otherwise by a group, and taken away with it.
CREATE TABLE team_members (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  team_id uuid NOT NULL REFERENCES teams (id) ON DELETE CASCADE,
  user_id uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  role text NOT NULL CHECK (role IN ('system_admin', 'org_admin', 'team_admin', 'member', 'viewer', 'auditor', 'billing')),
  can_read_bodies boolean,
  identity_provider_id uuid REFERENCES identity_providers (id) ON DELETE CASCADE,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  UNIQUE (team_id, user_id)
);
CREATE INDEX team_members_user ON team_members (user_id);

-- null = of no team, as the deleted projects of a deleted team.
ALTER TABLE projects ADD COLUMN team_id uuid DEFAULT '00000000-0000-4000-8000-000000000002'
  REFERENCES teams (id) ON DELETE SET NULL;
CREATE INDEX projects_team ON projects (team_id);
ALTER TABLE api_keys ADD COLUMN user_id uuid REFERENCES users (id) ON DELETE SET NULL;
CREATE INDEX api_keys_user ON api_keys (user_id) WHERE user_id IS NOT NULL;

-- Sessions of persons. sign_in_hash: SHA-256 of the state, so that a sign-in works once.
ALTER TABLE admin_sessions ADD COLUMN user_id uuid REFERENCES users (id) ON DELETE CASCADE;
ALTER TABLE admin_sessions ADD COLUMN identity_provider_id uuid REFERENCES identity_providers (id) ON DELETE CASCADE;
ALTER TABLE admin_sessions ADD COLUMN sign_in_hash text UNIQUE;
CREATE INDEX admin_sessions_user ON admin_sessions (user_id) WHERE user_id IS NOT NULL;

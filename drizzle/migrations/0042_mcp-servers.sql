-- MCP servers that keys may call tools of. What may hold secrets (headers, environment, credentials) is sealed as a whole:
-- AES-256-GCM (nonce, ciphertext, tag), bound to the row's id.
CREATE TABLE mcp_servers (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  alias text NOT NULL UNIQUE,
  description text NOT NULL DEFAULT '',
  transport text NOT NULL CHECK (transport IN ('http', 'stdio')),
  url text,
  command text,
  args jsonb NOT NULL DEFAULT '[]',
  auth_type text NOT NULL DEFAULT 'none' CHECK (auth_type IN ('none', 'bearer', 'header', 'oauth_client', 'oauth_user')),
  -- What of the set-up is no secret: the header's name, OAuth's scopes, issuer and client.
  auth_options jsonb NOT NULL DEFAULT '{}',
  -- JSON of headers, environment and credentials.
  encrypted_secrets bytea,
  encryption_key_id text,
  header_names jsonb NOT NULL DEFAULT '[]',
  env_names jsonb NOT NULL DEFAULT '[]',
  allowed_tools jsonb,
  blocked_tools jsonb NOT NULL DEFAULT '[]',
  price_per_call_usd numeric(20, 9) NOT NULL DEFAULT 0 CHECK (price_per_call_usd >= 0),
  timeout_ms integer NOT NULL DEFAULT 60000,
  approve_changes text NOT NULL DEFAULT 'manual' CHECK (approve_changes IN ('manual', 'auto')),
  -- Until its first list was read: what a server has then is approved.
  pinned_at timestamptz(3),
  is_active boolean NOT NULL DEFAULT true,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now()
);

-- What each tool of a server says of itself: as it was approved, and as it was last seen. approved_hash null = never approved.
CREATE TABLE mcp_tools (
  server_id uuid NOT NULL REFERENCES mcp_servers (id) ON DELETE CASCADE,
  name text NOT NULL,
  approved_hash text,
  approved jsonb,
  approved_at timestamptz(3),
  seen_hash text NOT NULL,
  seen jsonb NOT NULL,
  seen_at timestamptz(3) NOT NULL DEFAULT now(),
  is_gone boolean NOT NULL DEFAULT false,
  PRIMARY KEY (server_id, name)
);

-- Patterns over alias__tool. null of a key = as its project says; null of a project = none.
ALTER TABLE projects ADD COLUMN allowed_tools jsonb;
ALTER TABLE api_keys ADD COLUMN allowed_tools jsonb;

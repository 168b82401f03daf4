-- Consent that users gave for a server, by API key and customer and by who issued it; tokens are sealed, bound to the row's id.
CREATE TABLE mcp_grants (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  server_id uuid NOT NULL REFERENCES mcp_servers (id) ON DELETE CASCADE,
  api_key_id uuid NOT NULL,
  customer_id text NOT NULL DEFAULT '',
  issuer text NOT NULL,
  scope text,
  encrypted_tokens bytea NOT NULL,
  encryption_key_id text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  UNIQUE (server_id, api_key_id, customer_id, issuer)
);

-- Consent that was asked for and not given yet. What the flow needs is sealed, bound to the row's id.
CREATE TABLE mcp_consents (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  server_id uuid NOT NULL REFERENCES mcp_servers (id) ON DELETE CASCADE,
  api_key_id uuid NOT NULL,
  customer_id text NOT NULL DEFAULT '',
  scope text,
  ticket_hash text NOT NULL UNIQUE,
  state_hash text UNIQUE,
  encrypted_flow bytea,
  encryption_key_id text,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  expires_at timestamptz(3) NOT NULL
);
CREATE INDEX mcp_consents_expired ON mcp_consents (expires_at);

-- The gateway as a client that an authorization server has registered.
CREATE TABLE mcp_oauth_clients (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  server_id uuid NOT NULL REFERENCES mcp_servers (id) ON DELETE CASCADE,
  issuer text NOT NULL,
  redirect_url text NOT NULL,
  encrypted_client bytea NOT NULL,
  encryption_key_id text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  UNIQUE (server_id, issuer, redirect_url)
);

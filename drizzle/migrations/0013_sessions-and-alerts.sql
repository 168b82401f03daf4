-- Sign-ins of the dashboard. Only hashes: of the cookie, and of the admin token it was made with, so that a session ends
-- with its token. token_id null = signed in with ADMIN_TOKEN.
CREATE TABLE admin_sessions (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  session_hash text NOT NULL UNIQUE,
  token_id uuid REFERENCES admin_tokens (id),
  token_hash text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  expires_at timestamptz(3) NOT NULL
);
CREATE INDEX admin_sessions_expiry ON admin_sessions (expires_at);

-- project_id null = over all projects. threshold: a share for budgets and rates, milliseconds for latency, USD for spend.
CREATE TABLE alerts (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  name text NOT NULL,
  kind text NOT NULL CHECK (kind IN ('budget_share', 'error_rate', 'latency_p95', 'spend', 'job_failed')),
  threshold double precision NOT NULL,
  window_minutes integer NOT NULL DEFAULT 15,
  project_id uuid REFERENCES projects (id),
  webhook_url text NOT NULL,
  is_active boolean NOT NULL DEFAULT true,
  -- What the webhook was told last; a call that failed is made again at the next check.
  is_firing boolean NOT NULL DEFAULT false,
  changed_at timestamptz(3),
  last_error text,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now()
);

-- Raises the version with every change: admission compares it, so a change holds from the very next request.
CREATE FUNCTION llm0_raise_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.version := OLD.version + 1;
  NEW.updated_at := now();
  RETURN NEW;
END $$;

CREATE TABLE projects (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  name text NOT NULL,
  version bigint NOT NULL DEFAULT 1,
  is_active boolean NOT NULL DEFAULT true,
  monthly_cap_usd numeric(20,9),
  strict_caps boolean NOT NULL DEFAULT false,
  default_output_tokens integer NOT NULL DEFAULT 4096,
  cache_enabled boolean NOT NULL DEFAULT true,
  cache_ttl_seconds integer,
  semantic_cache_enabled boolean NOT NULL DEFAULT false,
  semantic_threshold double precision,
  semantic_shadow boolean NOT NULL DEFAULT false,
  on_store_failure text NOT NULL DEFAULT 'closed' CHECK (on_store_failure IN ('closed', 'open')),
  unknown_model_policy text CHECK (unknown_model_policy IN ('refuse', 'allow_unpriced')),
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  deleted_at timestamptz(3)
);
CREATE INDEX projects_newest ON projects (created_at DESC, id DESC) WHERE deleted_at IS NULL;
CREATE TRIGGER projects_version BEFORE UPDATE ON projects FOR EACH ROW EXECUTE FUNCTION llm0_raise_version();

CREATE TABLE api_keys (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  project_id uuid NOT NULL REFERENCES projects (id),
  name text NOT NULL,
  key_hash text NOT NULL UNIQUE CHECK (key_hash ~ '^[0-9a-f]{64}$'),
  key_prefix text NOT NULL,
  version bigint NOT NULL DEFAULT 1,
  is_active boolean NOT NULL DEFAULT true,
  rate_limit_per_minute integer,
  rate_limit_burst integer,
  tokens_per_minute integer,
  max_concurrency integer,
  allowed_models jsonb,
  expires_at timestamptz(3),
  budget_usd numeric(20,9),
  budget_period text NOT NULL DEFAULT 'total' CHECK (budget_period IN ('total', 'month')),
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  deleted_at timestamptz(3)
);
CREATE INDEX api_keys_newest ON api_keys (project_id, created_at DESC, id DESC) WHERE deleted_at IS NULL;
CREATE TRIGGER api_keys_version BEFORE UPDATE ON api_keys FOR EACH ROW EXECUTE FUNCTION llm0_raise_version();

CREATE TABLE customer_limits (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  project_id uuid NOT NULL REFERENCES projects (id),
  customer_id text NOT NULL,
  version bigint NOT NULL DEFAULT 1,
  daily_spend_limit_usd numeric(20,9),
  monthly_spend_limit_usd numeric(20,9),
  per_request_max_usd numeric(20,9),
  requests_per_minute integer,
  requests_per_hour integer,
  requests_per_day integer,
  model_limits jsonb NOT NULL DEFAULT '{}',
  on_limit_behavior text NOT NULL DEFAULT 'block' CHECK (on_limit_behavior IN ('block', 'downgrade', 'warn')),
  downgrade_model text,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  UNIQUE (project_id, customer_id)
);
CREATE TRIGGER customer_limits_version BEFORE UPDATE ON customer_limits FOR EACH ROW EXECUTE FUNCTION llm0_raise_version();

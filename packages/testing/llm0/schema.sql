-- The tables of the Go project llm0-gateway, in the types, defaults and keys of its schema/schema.sql (0.1.2), without its
-- indexes for reading.
CREATE EXTENSION IF NOT EXISTS vector;

CREATE TABLE projects (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(), user_id uuid NOT NULL, name varchar(255) NOT NULL,
  monthly_cap_usd decimal(14,6) DEFAULT 20, current_month_spend_usd decimal(14,6) DEFAULT 0,
  spend_reset_at timestamptz DEFAULT date_trunc('month', now() + interval '1 month'),
  cache_enabled boolean DEFAULT true, semantic_cache_enabled boolean DEFAULT false,
  semantic_threshold decimal(3,2) DEFAULT 0.95, cache_ttl_seconds int DEFAULT 3600,
  default_daily_spend_limit_usd decimal(14,6), default_monthly_spend_limit_usd decimal(14,6),
  default_per_request_max_usd decimal(14,6), default_requests_per_minute int, default_requests_per_hour int,
  default_requests_per_day int, default_on_limit_behavior varchar(20) DEFAULT 'block', default_downgrade_model varchar(100),
  is_active boolean DEFAULT true, created_at timestamptz DEFAULT now(), updated_at timestamptz DEFAULT now());

CREATE TABLE api_keys (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(), project_id uuid NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  key_hash varchar(255) NOT NULL, key_prefix varchar(20) NOT NULL, name varchar(255) NOT NULL,
  rate_limit_per_minute int DEFAULT 60, is_active boolean DEFAULT true, last_used_at timestamptz,
  created_at timestamptz DEFAULT now(), updated_at timestamptz DEFAULT now());
CREATE UNIQUE INDEX idx_api_keys_hash ON api_keys (key_hash);

CREATE TABLE gateway_logs (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(), project_id uuid REFERENCES projects (id) ON DELETE CASCADE,
  api_key_id uuid REFERENCES api_keys (id) ON DELETE SET NULL, model varchar(100) NOT NULL, provider varchar(50) NOT NULL,
  tokens_in int, tokens_out int, tokens_total int, cost_usd decimal(14,6), latency_ms int,
  cache_hit boolean DEFAULT false, semantic_cache_hit boolean DEFAULT false, similarity_score real,
  failover_count int DEFAULT 0, failover_occurred boolean DEFAULT false, final_provider varchar(50),
  status varchar(50), error_message text, customer_id varchar(255), labels jsonb, created_at timestamptz DEFAULT now());

CREATE TABLE failover_logs (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(), project_id uuid REFERENCES projects (id) ON DELETE CASCADE,
  request_id varchar(255), original_model varchar(100) NOT NULL, original_provider varchar(50) NOT NULL,
  fallback_model varchar(100) NOT NULL, fallback_provider varchar(50) NOT NULL, trigger_reason varchar(50) NOT NULL,
  trigger_status_code int, trigger_error_message text, original_attempt_latency_ms int, fallback_latency_ms int,
  total_latency_ms int, fallback_succeeded boolean NOT NULL, fallback_error_message text,
  created_at timestamptz DEFAULT now());

CREATE TABLE customer_limits (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(), project_id uuid NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  customer_id varchar(255) NOT NULL, daily_spend_limit_usd decimal(14,6), monthly_spend_limit_usd decimal(14,6),
  per_request_max_usd decimal(14,6), requests_per_minute int, requests_per_hour int, requests_per_day int,
  model_limits jsonb, label_limits jsonb, on_limit_behavior varchar(20) DEFAULT 'block', downgrade_model varchar(100),
  created_at timestamptz DEFAULT now(), updated_at timestamptz DEFAULT now(), UNIQUE (project_id, customer_id));

CREATE TABLE customer_spend (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(), project_id uuid NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  customer_id varchar(255) NOT NULL, date date NOT NULL, hour int, total_spend_usd decimal(14,6) DEFAULT 0,
  request_count int DEFAULT 0, spend_by_model jsonb DEFAULT '{}', spend_by_label jsonb DEFAULT '{}',
  created_at timestamptz DEFAULT now(), updated_at timestamptz DEFAULT now(), UNIQUE (project_id, customer_id, date, hour));

CREATE TABLE customer_tiers (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(), project_id uuid NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  slug varchar(64) NOT NULL, daily_spend_limit_usd decimal(14,6), monthly_spend_limit_usd decimal(14,6),
  per_request_max_usd decimal(14,6), requests_per_minute int, requests_per_hour int, requests_per_day int,
  model_limits jsonb, label_limits jsonb, on_limit_behavior varchar(20) DEFAULT 'block', downgrade_model varchar(100),
  created_at timestamptz DEFAULT now(), updated_at timestamptz DEFAULT now(), UNIQUE (project_id, slug));

CREATE TABLE exact_cache (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(), project_id uuid REFERENCES projects (id) ON DELETE CASCADE,
  cache_key varchar(64) UNIQUE NOT NULL, provider varchar(50) NOT NULL, model varchar(100) NOT NULL, prompt_tokens int,
  completion_tokens int, cached_response jsonb NOT NULL, hit_count int DEFAULT 0, last_hit_at timestamptz DEFAULT now(),
  expires_at timestamptz NOT NULL, created_at timestamptz DEFAULT now());

CREATE TABLE semantic_cache (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(), project_id uuid REFERENCES projects (id) ON DELETE CASCADE,
  cache_key varchar(64) UNIQUE NOT NULL, provider varchar(50) NOT NULL, model varchar(100) NOT NULL,
  embedding vector(384) NOT NULL, original_prompt text NOT NULL, cached_response jsonb NOT NULL, prompt_tokens int,
  completion_tokens int, hit_count int DEFAULT 0, last_hit_at timestamptz DEFAULT now(), expires_at timestamptz NOT NULL,
  created_at timestamptz DEFAULT now());
CREATE INDEX idx_semantic_cache_embedding ON semantic_cache USING hnsw (embedding vector_cosine_ops);

CREATE TABLE model_pricing (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(), provider varchar(50) NOT NULL, model varchar(100) NOT NULL,
  input_per_1k_tokens decimal(10,8), output_per_1k_tokens decimal(10,8), context_window int,
  supports_streaming boolean DEFAULT true, supports_functions boolean DEFAULT false, updated_at timestamptz DEFAULT now(),
  UNIQUE (provider, model));

CREATE TABLE system_logs (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(), event_type varchar(64) NOT NULL, message text NOT NULL,
  metadata jsonb DEFAULT '{}', created_at timestamptz DEFAULT now());

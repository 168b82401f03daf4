CREATE TABLE exact_cache (
  project_id uuid NOT NULL,
  cache_key text NOT NULL,
  provider text NOT NULL,
  model text NOT NULL,
  prompt_tokens bigint NOT NULL,
  completion_tokens bigint NOT NULL,
  cached_response jsonb NOT NULL,
  hit_count bigint NOT NULL DEFAULT 0,
  last_hit_at timestamptz(3),
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  expires_at timestamptz(3) NOT NULL,
  PRIMARY KEY (project_id, cache_key)
);
CREATE INDEX exact_cache_expires ON exact_cache (expires_at);

CREATE TABLE semantic_rejections (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  project_id uuid NOT NULL,
  request_id uuid,
  cache_key text NOT NULL,
  prompt text NOT NULL,
  matched_prompt text NOT NULL,
  similarity double precision NOT NULL,
  guard text NOT NULL
);
CREATE INDEX semantic_rejections_newest ON semantic_rejections (created_at DESC);

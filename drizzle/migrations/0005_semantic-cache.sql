-- optional: without pgvector everything but the semantic cache works
CREATE EXTENSION IF NOT EXISTS vector;

CREATE TABLE semantic_cache (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  project_id uuid NOT NULL,
  cache_key text NOT NULL,
  fingerprint text NOT NULL,
  provider text NOT NULL,
  model text NOT NULL,
  dimensions integer NOT NULL,
  embedding vector NOT NULL,
  original_prompt text NOT NULL,
  cached_response jsonb NOT NULL,
  prompt_tokens bigint NOT NULL,
  completion_tokens bigint NOT NULL,
  hit_count bigint NOT NULL DEFAULT 0,
  last_hit_at timestamptz(3),
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  expires_at timestamptz(3) NOT NULL,
  UNIQUE (project_id, cache_key),
  CHECK (vector_dims(embedding) = dimensions)
);
CREATE INDEX semantic_cache_context ON semantic_cache (project_id, fingerprint, dimensions);
CREATE INDEX semantic_cache_expires ON semantic_cache (expires_at);

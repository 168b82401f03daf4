-- Spend by modality, of everything that is not text: what rollup_hour and rollup_day have beyond it is text.
CREATE TABLE rollup_modality_hour (
  bucket timestamptz NOT NULL,
  project_id uuid NOT NULL,
  api_key_id uuid NOT NULL,
  model text NOT NULL,
  provider text NOT NULL,
  cache text NOT NULL,
  modality text NOT NULL,
  requests bigint NOT NULL,
  tokens_cache_read bigint NOT NULL,
  tokens_cache_write bigint NOT NULL,
  cost_usd numeric(20,9) NOT NULL,
  saved_usd numeric(20,9) NOT NULL,
  PRIMARY KEY (bucket, project_id, api_key_id, model, provider, cache, modality)
);
CREATE TABLE rollup_modality_day (LIKE rollup_modality_hour INCLUDING ALL);

-- Rows from before.
INSERT INTO rollup_modality_hour
SELECT date_trunc('hour', created_at, 'UTC'), project_id, api_key_id, model, coalesce(final_provider, provider, ''),
  CASE WHEN semantic_cache_hit THEN 'semantic' WHEN cache_hit THEN 'exact' ELSE 'miss' END,
  coalesce(modality, 'embedding'), sum(coalesce(refused_count, 1)), sum(tokens_cache_read), sum(tokens_cache_write),
  sum(cost_usd), sum(saved_usd)
FROM gateway_logs WHERE coalesce(modality, CASE dialect WHEN 'openai-embeddings' THEN 'embedding' ELSE 'text' END) <> 'text'
GROUP BY 1, 2, 3, 4, 5, 6, 7;
INSERT INTO rollup_modality_hour
SELECT date_trunc('hour', created_at, 'UTC'), project_id, api_key_id, server || '__' || tool, 'mcp:' || server, 'miss', 'tool',
  0, 0, 0, sum(cost_usd), 0
FROM tool_calls WHERE cost_usd <> 0
GROUP BY 1, 2, 3, 4, 5;
INSERT INTO rollup_modality_day
SELECT date_trunc('day', bucket, 'UTC'), project_id, api_key_id, model, provider, cache, modality, sum(requests),
  sum(tokens_cache_read), sum(tokens_cache_write), sum(cost_usd), sum(saved_usd)
FROM rollup_modality_hour GROUP BY 1, 2, 3, 4, 5, 6, 7;

-- Null in months that were closed before.
ALTER TABLE closed_amounts ADD COLUMN modality text;

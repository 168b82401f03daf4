-- optional: without pgvector everything but the semantic cache works
ALTER TABLE semantic_cache ADD COLUMN question_hash text NOT NULL DEFAULT '';
ALTER TABLE semantic_cache SET (fillfactor = 90);
-- Inside the row: an exact scan of a group would else fetch every vector from elsewhere.
ALTER TABLE semantic_cache ALTER COLUMN embedding SET STORAGE MAIN;
DROP INDEX semantic_cache_context;
CREATE INDEX semantic_cache_group ON semantic_cache (project_id, provider, model, fingerprint, dimensions);
CREATE INDEX semantic_cache_hnsw_384 ON semantic_cache USING hnsw ((embedding::vector(384)) vector_cosine_ops)
  WHERE dimensions = 384;

-- What look-ups found. Texts only with LOG_BODIES.
CREATE TABLE semantic_matches (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  project_id uuid NOT NULL,
  request_id uuid NOT NULL,
  outcome text NOT NULL,
  guard text,
  similarity double precision NOT NULL,
  threshold double precision NOT NULL,
  cache_key text NOT NULL,
  matched_key text NOT NULL,
  question_hash text NOT NULL,
  matched_hash text NOT NULL,
  prompt text,
  matched_prompt text
);
CREATE INDEX semantic_matches_newest ON semantic_matches (created_at DESC, id DESC);
CREATE INDEX semantic_matches_request ON semantic_matches (request_id);
CREATE INDEX semantic_matches_source ON semantic_matches (project_id, matched_key);

-- Pairs of questions that somebody said have other answers: never matched again, in either direction.
ALTER TABLE semantic_rejections ALTER COLUMN prompt DROP NOT NULL;
ALTER TABLE semantic_rejections ALTER COLUMN matched_prompt DROP NOT NULL;
ALTER TABLE semantic_rejections ALTER COLUMN similarity DROP NOT NULL;
ALTER TABLE semantic_rejections ADD COLUMN matched_key text NOT NULL DEFAULT '';
ALTER TABLE semantic_rejections ADD COLUMN question_hash text NOT NULL DEFAULT '';
ALTER TABLE semantic_rejections ADD COLUMN matched_hash text NOT NULL DEFAULT '';
CREATE UNIQUE INDEX semantic_rejections_pair ON semantic_rejections (project_id, question_hash, matched_hash);

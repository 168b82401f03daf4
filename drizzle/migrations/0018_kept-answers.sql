-- Answers that later requests of their project may go on from, until they expire.
CREATE TABLE kept_answers (
  -- The request's id.
  id uuid PRIMARY KEY,
  project_id uuid NOT NULL,
  -- The answer this one went on from; that one lives at least as long.
  previous_id uuid,
  -- JSON in the caller's format, as text because jsonb can not hold everything JSON can: the request's own part of the
  -- conversation, and the whole answer.
  input text NOT NULL,
  answer text NOT NULL,
  -- Ids of the answer's items: later requests may name them instead of sending them.
  item_ids text[] NOT NULL DEFAULT '{}',
  created_at timestamptz(3) NOT NULL,
  expires_at timestamptz(3) NOT NULL
);
CREATE INDEX kept_answers_expires ON kept_answers (expires_at);
CREATE INDEX kept_answers_items ON kept_answers USING gin (item_ids);

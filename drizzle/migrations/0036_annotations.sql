-- Deploys and notes that charts mark. project_id null = on the charts of all projects; at = when it happened.
CREATE TABLE annotations (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  at timestamptz(3) NOT NULL DEFAULT now(),
  kind text NOT NULL CHECK (kind IN ('deploy', 'incident', 'note')),
  text text NOT NULL,
  project_id uuid REFERENCES projects (id),
  actor text NOT NULL
);
CREATE INDEX annotations_newest ON annotations (at DESC);

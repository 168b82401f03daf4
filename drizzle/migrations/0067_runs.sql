-- Budgets of agents' runs, set by the first request of a run. A run is short: its own row keeps the limit that all processes use.
CREATE TABLE runs (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  project_id uuid NOT NULL REFERENCES projects (id),
  run_id text NOT NULL,
  api_key_id uuid NOT NULL,
  budget_usd numeric(20,9) NOT NULL,
  paused_at timestamptz(3),
  stopped_at timestamptz(3),
  forgotten_at timestamptz(3),
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  UNIQUE (project_id, run_id)
);
CREATE INDEX runs_newest ON runs (created_at DESC, id DESC);
ALTER TABLE api_keys ADD COLUMN max_run_budget_usd numeric(20,9);
ALTER TABLE api_keys ADD COLUMN default_run_budget_usd numeric(20,9);

-- Months that finance closed. A table for each fact of a closing: who closed what; a project's place in that month; its
-- spend. Nothing changes them later, so a statement stays as it was though projects move and rows are corrected.
CREATE TABLE closings (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  month text NOT NULL,
  time_zone text NOT NULL,
  organization_id uuid,
  team_id uuid,
  projects integer NOT NULL,
  cost_usd numeric(20,9) NOT NULL,
  corrections_usd numeric(20,9) NOT NULL,
  gateway_version text NOT NULL,
  closed_by text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now()
);
CREATE INDEX closings_newest ON closings (created_at DESC, id DESC);

-- A project closes a month once. has_previous: its amounts of the month before are kept here, because that month was open.
CREATE TABLE closed_projects (
  project_id uuid NOT NULL,
  month text NOT NULL,
  closing_id uuid NOT NULL REFERENCES closings (id),
  name text NOT NULL,
  team_id uuid,
  team text,
  organization_id uuid,
  organization text,
  cost_center text,
  is_rounded boolean NOT NULL,
  has_previous boolean NOT NULL,
  caps jsonb NOT NULL,
  PRIMARY KEY (project_id, month)
);
CREATE INDEX closed_projects_month ON closed_projects (month);

-- of_month: the month of the requests. kind: own = of the closed month; correction = of an earlier closed one;
-- previous = of the month before, for comparison.
CREATE TABLE closed_amounts (
  project_id uuid NOT NULL,
  month text NOT NULL,
  kind text NOT NULL CHECK (kind IN ('own', 'correction', 'previous')),
  of_month text NOT NULL,
  api_key_id uuid NOT NULL,
  key_name text NOT NULL,
  provider text NOT NULL,
  model text NOT NULL,
  cache text NOT NULL,
  requests bigint NOT NULL,
  cost_usd numeric(20,9) NOT NULL,
  estimated_usd numeric(20,9),
  saved_usd numeric(20,9) NOT NULL,
  saved_vendor_pico_usd numeric(30,0) NOT NULL,
  tokens_cache_read bigint NOT NULL,
  tokens_cache_write bigint NOT NULL
);
CREATE INDEX closed_amounts_month ON closed_amounts (month, project_id);
CREATE INDEX closed_amounts_of ON closed_amounts (of_month, project_id) WHERE kind <> 'previous';

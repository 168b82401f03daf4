-- Budgets of a UTC day and of a week from Monday, beside monthly caps and key budgets.
ALTER TABLE projects ADD COLUMN daily_budget_usd numeric(20,9);
ALTER TABLE projects ADD COLUMN weekly_budget_usd numeric(20,9);
ALTER TABLE api_keys ADD COLUMN daily_budget_usd numeric(20,9);
ALTER TABLE api_keys ADD COLUMN weekly_budget_usd numeric(20,9);

-- Budgets for a project's requests with a label.
CREATE TABLE label_budgets (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  project_id uuid NOT NULL REFERENCES projects (id),
  label text NOT NULL,
  value text NOT NULL,
  daily_usd numeric(20,9),
  weekly_usd numeric(20,9),
  monthly_usd numeric(20,9),
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  UNIQUE (project_id, label, value)
);
CREATE INDEX label_budgets_newest ON label_budgets (created_at DESC, id DESC);

-- Daily roll-up of labels that have a budget, written with the rows. Labels have no index and no roll-up of their own: a
-- month of rows would be read after each loss of the hot store, and for each check of the alerts.
CREATE TABLE label_spend (
  label_budget_id uuid NOT NULL REFERENCES label_budgets (id) ON DELETE CASCADE,
  date date NOT NULL,
  spent_usd numeric(20,9) NOT NULL,
  PRIMARY KEY (label_budget_id, date)
);

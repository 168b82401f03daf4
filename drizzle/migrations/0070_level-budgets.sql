-- Budgets of organizations, teams and users. version grows with their changes; spend is counted anew if it skips one.
ALTER TABLE organizations ADD COLUMN daily_budget_usd numeric(20,9);
ALTER TABLE organizations ADD COLUMN weekly_budget_usd numeric(20,9);
ALTER TABLE organizations ADD COLUMN monthly_cap_usd numeric(20,9);
ALTER TABLE organizations ADD COLUMN version integer NOT NULL DEFAULT 1;
ALTER TABLE teams ADD COLUMN daily_budget_usd numeric(20,9);
ALTER TABLE teams ADD COLUMN weekly_budget_usd numeric(20,9);
ALTER TABLE teams ADD COLUMN monthly_cap_usd numeric(20,9);
ALTER TABLE teams ADD COLUMN version integer NOT NULL DEFAULT 1;
ALTER TABLE users ADD COLUMN daily_budget_usd numeric(20,9);
ALTER TABLE users ADD COLUMN weekly_budget_usd numeric(20,9);
ALTER TABLE users ADD COLUMN monthly_cap_usd numeric(20,9);
ALTER TABLE users ADD COLUMN version integer NOT NULL DEFAULT 1;

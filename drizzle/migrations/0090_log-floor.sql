-- When Postgres dropped its rows of the day: the store has them alone.
ALTER TABLE log_days ADD COLUMN dropped_at timestamptz;
-- Spend of a run's requests whose rows are in that store alone.
ALTER TABLE runs ADD COLUMN dropped_usd numeric(20,9) NOT NULL DEFAULT 0;

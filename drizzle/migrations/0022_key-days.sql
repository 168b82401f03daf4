-- The days of a few keys: a page of keys shows what each has spent, and key budgets what is used of them.
CREATE INDEX rollup_day_key ON rollup_day (api_key_id, bucket);

-- Different customers a project may have in a calendar month; those with limits of their own always pass. null = any number.
ALTER TABLE projects ADD COLUMN max_customers integer DEFAULT 100000 CHECK (max_customers >= 0);

-- Refusals (429 rate_limit_exceeded) that the row stands for: those of a key beyond 10 a second are folded into one.
ALTER TABLE gateway_logs ADD COLUMN refused_count integer;

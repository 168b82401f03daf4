-- What an operator says of a project or key ("team", "cost-center"): every row of theirs has it among its labels.
ALTER TABLE projects ADD COLUMN labels jsonb;
ALTER TABLE api_keys ADD COLUMN labels jsonb;
-- Statements name what of an amount was estimated. On every partition at once it would keep rows from being written while
-- all are read (5 s for five million): those that are there get theirs one by one, from the job `index_partitions`.
CREATE INDEX gateway_logs_estimated ON ONLY gateway_logs (created_at) WHERE cost_estimated;

-- Kept answers are their key's and customer's, unless their project shares them.
ALTER TABLE projects ADD COLUMN share_responses boolean NOT NULL DEFAULT false;
ALTER TABLE kept_answers ADD COLUMN api_key_id uuid;
ALTER TABLE kept_answers ADD COLUMN customer_id text;
UPDATE kept_answers k SET api_key_id = l.api_key_id, customer_id = l.customer_id
FROM gateway_logs l WHERE l.request_id = k.id AND l.project_id = k.project_id;

-- What a project asks of everything that goes to a vendor and comes back, one row a version: the newest is in force.
CREATE TABLE guardrails (
  project_id uuid NOT NULL REFERENCES projects (id),
  version bigint NOT NULL CHECK (version > 0),
  mode text NOT NULL CHECK (mode IN ('off', 'shadow', 'enforce')),
  pseudonym_scope text NOT NULL CHECK (pseudonym_scope IN ('request', 'project')),
  rules jsonb NOT NULL,
  -- Who saved it, by the name of the token.
  created_by text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (project_id, version)
);

-- The version in force; null = none was ever saved. A change of it raises the project's version, which every admission compares.
ALTER TABLE projects ADD COLUMN guardrails_version bigint;
-- What its pseudonyms are made with, where they are to stay the same.
ALTER TABLE projects ADD COLUMN pseudonym_secret uuid NOT NULL DEFAULT gen_random_uuid();
-- Beside the project's; null = none.
ALTER TABLE api_keys ADD COLUMN guardrail_rules jsonb;
-- Of a request: rule, part, count, action and milliseconds of each rule that found something; never content.
ALTER TABLE gateway_logs ADD COLUMN guardrails jsonb;
ALTER TABLE tool_calls ADD COLUMN guardrails jsonb;

-- Pass-through is off unless a project or key names the providers; who has used it keeps those that answered. The log is read
-- before anything is locked.
CREATE TEMPORARY TABLE used_passthrough ON COMMIT DROP AS
  SELECT project_id, jsonb_agg(provider ORDER BY provider) AS providers
    FROM (SELECT DISTINCT project_id, provider FROM gateway_logs
           WHERE dialect = 'passthrough' AND status = 'success' AND provider IS NOT NULL) AS used
   GROUP BY project_id;
ALTER TABLE projects ADD COLUMN passthrough jsonb;
ALTER TABLE api_keys ADD COLUMN passthrough jsonb;
UPDATE projects SET passthrough = used.providers FROM used_passthrough AS used WHERE used.project_id = projects.id;
-- Of a vendor's other paths, what the operator lets through: "POST /v1/files".
ALTER TABLE providers ADD COLUMN passthrough_paths jsonb NOT NULL DEFAULT '[]';

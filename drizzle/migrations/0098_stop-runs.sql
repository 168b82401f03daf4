-- Runs of projects that were deleted before a deletion stopped them.
UPDATE runs SET stopped_at = now(), updated_at = now()
  WHERE stopped_at IS NULL AND project_id IN (SELECT id FROM projects WHERE deleted_at IS NOT NULL);

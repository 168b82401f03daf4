-- Who changed a managed resource after its last apply, past the configuration file.
ALTER TABLE managed_resources ADD COLUMN changed_at timestamptz(3), ADD COLUMN changed_by text;

ALTER TABLE chains ADD COLUMN options jsonb NOT NULL DEFAULT '{}';

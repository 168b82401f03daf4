-- Lines of a batch that run at the gateway while its other lines are at a vendor.
ALTER TABLE batch_lines ADD COLUMN is_own boolean NOT NULL DEFAULT false;

-- A deleted alert stays, unseen, until its webhook was told that what fired is over.
ALTER TABLE alerts ADD COLUMN deleted_at timestamptz(3);

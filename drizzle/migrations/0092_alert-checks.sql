-- What the last check of an alert found. A firing has only its first and highest value.
ALTER TABLE alerts ADD COLUMN checked_at timestamptz(3);
ALTER TABLE alerts ADD COLUMN checked_value double precision;
ALTER TABLE alerts ADD COLUMN checked_text text;

-- is_firing is what the webhook was told last; whether the condition is met is another matter where nobody can be told.
ALTER TABLE alerts ADD COLUMN is_met boolean NOT NULL DEFAULT false;
UPDATE alerts SET is_met = true
  WHERE EXISTS (SELECT 1 FROM alert_firings WHERE alert_id = alerts.id AND ended_at IS NULL);

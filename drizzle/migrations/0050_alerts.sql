-- Further kinds need no migration: the gateway says which there are.
ALTER TABLE alerts DROP CONSTRAINT alerts_kind_check;
ALTER TABLE alerts ADD COLUMN webhook_format text NOT NULL DEFAULT 'json';
ALTER TABLE alerts ADD COLUMN routing_key text;
-- Share of requests that are to succeed, of error budgets alone.
ALTER TABLE alerts ADD COLUMN objective double precision;
ALTER TABLE alerts ADD COLUMN muted_until timestamptz(3);

-- When a condition was met, whether or not anybody was told.
CREATE TABLE alert_firings (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  alert_id uuid NOT NULL REFERENCES alerts (id) ON DELETE CASCADE,
  created_at timestamptz(3) NOT NULL,
  ended_at timestamptz(3),
  value double precision,
  highest double precision,
  text text NOT NULL,
  told_at timestamptz(3)
);
CREATE INDEX alert_firings_newest ON alert_firings (alert_id, created_at DESC, id DESC);
CREATE UNIQUE INDEX alert_firings_open ON alert_firings (alert_id) WHERE ended_at IS NULL;

-- Why each target of a request was chosen or skipped; null where there was no choice.
ALTER TABLE gateway_logs ADD COLUMN routing jsonb;

-- What a request asked for, null = text, and what it used besides tokens: images, seconds, characters.
ALTER TABLE gateway_logs ADD COLUMN modality text;
ALTER TABLE gateway_logs ADD COLUMN units jsonb;

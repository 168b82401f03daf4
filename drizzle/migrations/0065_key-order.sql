-- Place of a provider's key in the order of use; null = behind those with one.
ALTER TABLE provider_keys ADD COLUMN position integer CHECK (position > 0);

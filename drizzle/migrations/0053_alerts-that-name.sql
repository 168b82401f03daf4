-- What a firing is about, where that are things with names (providers that are down): news of others is told while it goes on.
ALTER TABLE alert_firings ADD COLUMN subjects text[];

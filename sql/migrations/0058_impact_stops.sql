-- The end of the last report of each impact metric of an instance, by name: SDKs that never reset the start of
-- their reports send what was added since then.

ALTER TABLE client_instances ADD COLUMN impact_stops jsonb NOT NULL DEFAULT '{}';

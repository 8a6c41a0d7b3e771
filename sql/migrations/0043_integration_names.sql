-- Action sets, endpoints and releases choose an integration by its name, instead of repeating its URL
-- and secret. An integration has a name if others may choose it.
--
-- The previous version doesn't send to such recipients and leaves their messages waiting.

ALTER TABLE integrations ADD COLUMN name text UNIQUE;
COMMENT ON COLUMN integrations.name IS 'Notifications of action sets, endpoints and releases refer to it.';

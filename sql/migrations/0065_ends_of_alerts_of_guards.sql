-- A late signal doesn't fire a guard: by the sender's own times its alert has ended since.

ALTER TABLE release_guards ADD COLUMN ended jsonb NOT NULL DEFAULT '{}';
COMMENT ON COLUMN release_guards.ended IS 'When the alerts that ended last have ended, by their keys.';

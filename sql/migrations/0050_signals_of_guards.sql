-- The ID of the signal that each of `keys` fired with, by key.
ALTER TABLE release_guards ADD COLUMN signal_ids jsonb NOT NULL DEFAULT '{}';

-- `signal_ids` are the signals that `keys` fired with, by key. A guard is not `is_caught_up` until the signals
-- that arrived while it was stored are applied to it.
ALTER TABLE release_guards
    ADD COLUMN signal_ids jsonb NOT NULL DEFAULT '{}',
    ADD COLUMN is_caught_up boolean NOT NULL DEFAULT true;

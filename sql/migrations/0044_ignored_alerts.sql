-- Alerts of action sets that a person ignores after an undo, until they resolve. `run_id` is the run that was
-- undone. `correlation`, the key of the alert, is part of a payload and can be too long for an index.

CREATE TABLE ignored_alerts (
    action_set_id integer NOT NULL REFERENCES action_sets (id) ON DELETE CASCADE,
    run_id bigint NOT NULL,
    correlation text NOT NULL,
    created_by text NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (action_set_id, run_id)
);

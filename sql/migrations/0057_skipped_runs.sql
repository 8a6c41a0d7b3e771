-- Whether a set did not run for the same reason in this hour: then it has no further event.

CREATE INDEX action_runs_skipped_idx ON action_runs (action_set_id, created_at) WHERE state = 'suppressed';

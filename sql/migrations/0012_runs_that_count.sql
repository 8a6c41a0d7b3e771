-- What cooldown and the runs per hour ask before each run, however many runs were suppressed.

CREATE INDEX action_runs_counted_idx ON action_runs (action_set_id, created_at)
    WHERE cause = 'signal' AND state <> 'suppressed';

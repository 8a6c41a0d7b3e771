-- The runs that hold flags: of alerts, with changes that are not reverted. However often an alert is repeated,
-- the run that switched its flag is found.

CREATE INDEX action_runs_holding_idx ON action_runs (action_set_id, id DESC)
    WHERE cause = 'signal' AND correlation IS NOT NULL AND NOT dry_run AND restored_by_run_id IS NULL
      AND state IN ('success', 'failed') AND jsonb_path_exists(action_set, '$.actions[*].changes[*]');

-- One word for each thing: result, revert, lease, endpoint, alert key, run once.

ALTER TABLE signal_verdicts RENAME TO signal_results;
ALTER TABLE signal_results RENAME COLUMN verdicts TO results;
ALTER TABLE signal_results RENAME CONSTRAINT signal_verdicts_pkey TO signal_results_pkey;
UPDATE signal_results s
SET results = (
    SELECT jsonb_agg(
               (item - 'verdict' - 'because')
               || jsonb_build_object('state', CASE item ->> 'verdict'
                                                  WHEN 'restores' THEN 'reverts'
                                                  WHEN 'nothing to restore' THEN 'nothing to revert'
                                                  ELSE item ->> 'verdict' END)
               || CASE WHEN item ? 'because' THEN jsonb_build_object('reason', item -> 'because') ELSE '{}' END
               ORDER BY position)
    FROM jsonb_array_elements(s.results) WITH ORDINALITY AS x (item, position)
)
WHERE results <> '[]';

ALTER TABLE action_runs RENAME COLUMN correlation TO alert_key;
ALTER TABLE action_runs RENAME COLUMN restores_run_id TO reverts_run_id;
ALTER TABLE action_runs RENAME COLUMN restored_by_run_id TO reverted_by_run_id;
ALTER TABLE action_runs RENAME COLUMN restore_due_at TO revert_due_at;
UPDATE action_runs
SET action_set = jsonb_set(action_set, '{actions,0,action}', '"REVERT"')
WHERE cause <> 'signal' AND action_set #>> '{actions,0,action}' = 'RESTORE';

ALTER TABLE action_sets RENAME COLUMN source_id TO endpoint_id;
ALTER INDEX action_sets_source_idx RENAME TO action_sets_endpoint_idx;
ALTER TABLE alerts RENAME COLUMN source_id TO endpoint_id;
ALTER TABLE action_sets RENAME COLUMN armed TO has_run_once;
ALTER TABLE action_sets ALTER COLUMN has_run_once SET DEFAULT false;
UPDATE action_sets SET has_run_once = NOT has_run_once;

ALTER TABLE integration_claims RENAME TO integration_leases;
ALTER TABLE integration_leases RENAME COLUMN claimed_by TO leased_by;
ALTER TABLE integration_leases RENAME COLUMN claimed_until TO leased_until;
ALTER TABLE integration_leases RENAME CONSTRAINT integration_claims_pkey TO integration_leases_pkey;

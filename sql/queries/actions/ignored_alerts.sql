-- Alerts that people ignore until they resolve. Writers hold lock_action_runs, as the evaluation of signals does,
-- which reads them.

-- name: list_ignored_alerts
-- The ignored alerts of some sets, or of all if `sets` is NULL; by set and run.
SELECT i.action_set_id, i.run_id, i.correlation, i.created_by, i.created_at, a.project, a.name
FROM ignored_alerts i
JOIN action_sets a ON a.id = i.action_set_id
WHERE %(sets)s::int[] IS NULL OR i.action_set_id = ANY(%(sets)s)
ORDER BY i.action_set_id, i.run_id;

-- name: add_ignored_alert
INSERT INTO ignored_alerts (action_set_id, run_id, correlation, created_by, created_at)
VALUES (%(action_set_id)s, %(run_id)s, %(correlation)s, %(created_by)s, now())
ON CONFLICT (action_set_id, run_id) DO NOTHING;

-- name: delete_ignored_alert
DELETE FROM ignored_alerts WHERE action_set_id = %(action_set_id)s AND correlation = %(correlation)s;

-- Notifications of runs: the messages of the kind `run` in the outbox.

-- name: insert_notifications
-- Inserts, for runs that ended, one notification for each channel whose `on` contains the state. It is due at
-- once, whatever the clock of the sending process.
INSERT INTO outbox (kind, subject_id, target)
SELECT 'run', r.id, c.channel
FROM action_runs r
JOIN action_sets s ON s.id = r.action_set_id
CROSS JOIN LATERAL jsonb_array_elements(s.settings -> 'notifications')
           WITH ORDINALITY AS c (channel, position)
WHERE r.id = ANY(%(run_ids)s) AND c.channel -> 'on' ? r.state
ORDER BY r.id, c.position;

-- name: list_notifications
-- The newest notifications of a set.
SELECT n.id, n.subject_id AS run_id, n.target, n.attempts, n.due_at, n.sent_at, n.given_up_at,
       n.last_error, n.created_at, r.state AS run_state
FROM action_runs r
JOIN outbox n ON n.subject_id = r.id AND n.kind = 'run'
WHERE r.action_set_id = %(action_set_id)s
ORDER BY r.id DESC, n.id DESC
LIMIT %(limit)s;

-- name: find_notification
SELECT n.id, n.subject_id AS run_id, n.target, n.attempts, n.due_at, n.sent_at, n.given_up_at,
       n.last_error, n.created_at, r.state AS run_state
FROM outbox n
JOIN action_runs r ON r.id = n.subject_id
WHERE n.id = %(id)s AND n.kind = 'run' AND r.action_set_id = %(action_set_id)s;

-- name: find_run_to_notify_of
SELECT id, action_set_id, project, cause, signal_id, restores_run_id, restore_due_at, state, reason,
       dry_run, action_set, created_at, finished_at
FROM action_runs
WHERE id = %(id)s;

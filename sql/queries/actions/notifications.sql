-- Notifications of runs. Stored with their run, sent and later deleted by jobs.

-- name: insert_notifications
-- For runs that ended: one notification for each channel whose `on` contains the state. It is due at
-- once, whatever the clock of the sending process.
INSERT INTO notifications (run_id, channel, message, due_at)
SELECT r.id, c.channel,
       jsonb_build_object('runId', r.id, 'state', r.state, 'reason', r.reason,
                          'actionSetId', r.action_set_id, 'project', r.project,
                          'cause', r.cause, 'dryRun', r.dry_run),
       'epoch'
FROM action_runs r
JOIN action_sets s ON s.id = r.action_set_id
CROSS JOIN LATERAL jsonb_array_elements(s.settings -> 'notifications')
           WITH ORDINALITY AS c (channel, position)
WHERE r.id = ANY(%(run_ids)s) AND c.channel -> 'on' ? r.state
ORDER BY r.id, c.position;

-- name: claim_notification
-- The one that is due longest, of a channel that is not busy, with its run (NULLs if that was deleted).
-- The claim ends at `until`, so that another process sends it if the first was killed.
WITH due AS (
    SELECT id FROM notifications
    WHERE due_at <= %(now)s AND sent_at IS NULL AND given_up_at IS NULL
      AND NOT channel = ANY(%(busy)s::jsonb[])
    ORDER BY due_at, id
    LIMIT 1
    FOR UPDATE SKIP LOCKED
), claimed AS (
    UPDATE notifications n SET attempts = n.attempts + 1, due_at = %(until)s
    FROM due WHERE n.id = due.id
    RETURNING n.id, n.run_id, n.channel, n.attempts, n.created_at
)
SELECT c.id, c.channel, c.attempts, c.created_at, r.id AS run_id, r.action_set_id, r.project,
       r.cause, r.signal_id, r.restores_run_id, r.restore_due_at, r.state, r.reason, r.dry_run,
       r.action_set, r.created_at AS run_created_at, r.finished_at
FROM claimed c
LEFT JOIN action_runs r ON r.id = c.run_id;

-- name: settle_notification
-- Stores the result of an attempt, unless a later attempt has begun.
UPDATE notifications
SET sent_at = CASE WHEN %(result)s = 'sent' THEN %(now)s::timestamptz END,
    given_up_at = CASE WHEN %(result)s = 'given up' THEN %(now)s::timestamptz END,
    due_at = %(due_at)s, last_error = %(error)s
WHERE id = %(id)s AND attempts = %(attempts)s AND sent_at IS NULL AND given_up_at IS NULL;

-- name: list_notifications
-- The newest notifications of a set.
SELECT n.id, n.run_id, n.channel, n.attempts, n.due_at, n.sent_at, n.given_up_at, n.last_error,
       n.created_at, r.state AS run_state
FROM action_runs r
JOIN notifications n ON n.run_id = r.id
WHERE r.action_set_id = %(action_set_id)s
ORDER BY r.id DESC, n.id DESC
LIMIT %(limit)s;

-- name: find_notification
SELECT n.id, n.run_id, n.channel, n.attempts, n.due_at, n.sent_at, n.given_up_at, n.last_error,
       n.created_at, r.state AS run_state
FROM notifications n
JOIN action_runs r ON r.id = n.run_id
WHERE n.id = %(id)s AND r.action_set_id = %(action_set_id)s;

-- name: retry_notification
-- Makes a notification due now unless it is sent. One that was given up starts with the first attempt.
UPDATE notifications
SET attempts = CASE WHEN given_up_at IS NULL THEN attempts ELSE 0 END, due_at = 'epoch',
    given_up_at = NULL
WHERE id = %(id)s AND sent_at IS NULL;

-- name: delete_old_notifications
-- Only those that are sent or given up.
DELETE FROM notifications
WHERE id IN (
    SELECT id FROM notifications
    WHERE coalesce(sent_at, given_up_at) < now() - make_interval(days => %(days)s)
    LIMIT %(chunk)s
);

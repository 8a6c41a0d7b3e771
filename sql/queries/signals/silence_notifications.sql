-- Notifications that endpoints are late, down or up. Stored with the change, sent and later deleted by
-- jobs. `message` has all that is sent, because the endpoint may have been deleted since.

-- name: insert_silence_notifications
INSERT INTO silence_notifications (endpoint_id, channel, message)
SELECT endpoint_id, channel, message
FROM json_to_recordset(%(notifications)s)
     AS n (endpoint_id integer, channel jsonb, message jsonb);

-- name: claim_silence_notification
-- Like claim_notification.
WITH due AS (
    SELECT id FROM silence_notifications
    WHERE due_at <= %(now)s AND sent_at IS NULL AND given_up_at IS NULL
      AND NOT channel = ANY(%(busy)s::jsonb[])
    ORDER BY due_at, id
    LIMIT 1
    FOR UPDATE SKIP LOCKED
)
UPDATE silence_notifications n
SET attempts = n.attempts + 1, due_at = %(until)s
FROM due
WHERE n.id = due.id
RETURNING n.id, n.channel, n.message, n.attempts, n.created_at;

-- name: settle_silence_notification
-- Stores the result of an attempt, unless a later attempt has begun.
UPDATE silence_notifications
SET sent_at = CASE WHEN %(result)s = 'sent' THEN %(now)s::timestamptz END,
    given_up_at = CASE WHEN %(result)s = 'given up' THEN %(now)s::timestamptz END,
    due_at = %(due_at)s, last_error = %(error)s
WHERE id = %(id)s AND attempts = %(attempts)s AND sent_at IS NULL AND given_up_at IS NULL;

-- name: list_silence_notifications
-- The newest notifications of an endpoint.
SELECT id, channel, message, attempts, due_at, sent_at, given_up_at, last_error, created_at
FROM silence_notifications
WHERE endpoint_id = %(endpoint_id)s
ORDER BY id DESC
LIMIT %(limit)s;

-- name: delete_old_silence_notifications
-- Only those that are sent or given up.
DELETE FROM silence_notifications
WHERE id IN (
    SELECT id FROM silence_notifications
    WHERE coalesce(sent_at, given_up_at) < now() - make_interval(days => %(days)s)
    LIMIT %(chunk)s
);

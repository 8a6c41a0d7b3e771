-- Mails to users. Inserted in the transaction of their cause, sent by a job, deleted by age.

-- name: delete_waiting_mails
-- A new request replaces the user's waiting mails. `before` limits it to older ones.
DELETE FROM mails
WHERE user_id = %(user_id)s AND sent_at IS NULL AND given_up_at IS NULL
  AND (%(before)s::timestamptz IS NULL OR created_at <= %(before)s);

-- name: insert_mail
-- Due immediately. Without a user, and above the limits by `before` and `max_per_hour`, the row gets
-- no user and isn't sent, so that the response time is the same. Inserts nothing while another
-- transaction inserts a mail for the same user.
INSERT INTO mails (kind, user_id, base_url, due_at, given_up_at, created_at)
SELECT %(kind)s, recipient.id, %(base_url)s, 'epoch',
       CASE WHEN recipient.id IS NULL THEN %(now)s::timestamptz END, %(now)s
FROM (
    SELECT CASE WHEN NOT EXISTS (
        SELECT 1 FROM mails m
        WHERE m.user_id = %(user_id)s::integer AND m.kind = %(kind)s AND m.created_at > %(before)s
    ) AND (
        SELECT count(*) FROM mails m
        WHERE m.user_id = %(user_id)s::integer AND m.kind = %(kind)s
          AND m.created_at > %(now)s::timestamptz - interval '1 hour'
    ) < %(max_per_hour)s THEN %(user_id)s::integer END AS id
) AS recipient
ON CONFLICT DO NOTHING
RETURNING user_id IS NOT NULL AS will_be_sent;

-- name: claim_mail
-- The mail that has been due longest, with its recipient. Other senders skip it until `until`; after
-- that its sender has died.
WITH due AS (
    SELECT id FROM mails
    WHERE due_at <= %(now)s AND sent_at IS NULL AND given_up_at IS NULL
    ORDER BY due_at, id
    LIMIT 1
    FOR UPDATE SKIP LOCKED
), claimed AS (
    UPDATE mails m SET attempts = m.attempts + 1, due_at = %(until)s
    FROM due WHERE m.id = due.id
    RETURNING m.id, m.kind, m.user_id, m.base_url, m.attempts, m.last_error, m.created_at
)
SELECT c.id, c.kind, c.user_id, c.base_url, c.attempts, c.last_error, c.created_at, u.email, u.name
FROM claimed c
JOIN users u ON u.id = c.user_id;

-- name: settle_mail
-- The result of an attempt. Changes nothing if a later attempt has started.
UPDATE mails
SET sent_at = CASE WHEN %(result)s = 'sent' THEN %(now)s::timestamptz END,
    given_up_at = CASE WHEN %(result)s = 'given up' THEN %(now)s::timestamptz END,
    due_at = %(due_at)s, last_error = %(error)s
WHERE id = %(id)s AND attempts = %(attempts)s AND sent_at IS NULL AND given_up_at IS NULL;

-- name: find_last_mail
SELECT kind, attempts, sent_at, given_up_at, last_error, created_at
FROM mails
WHERE user_id = %(user_id)s
ORDER BY id DESC
LIMIT 1;

-- name: delete_old_mails
DELETE FROM mails
WHERE id IN (
    SELECT id FROM mails
    WHERE created_at < now() - make_interval(days => %(days)s)
    LIMIT %(chunk)s
);

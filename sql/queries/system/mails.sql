-- Mails to users: the messages with a user in the outbox. Inserted in the transaction of their cause.

-- name: delete_waiting_mails
-- A new request replaces the user's waiting mails. `before` limits it to older mails.
DELETE FROM outbox
WHERE user_id = %(user_id)s AND sent_at IS NULL AND given_up_at IS NULL
  AND (%(before)s::timestamptz IS NULL OR created_at <= %(before)s);

-- name: insert_mail
-- Without a user, and above the limits by `before` and `max_per_hour`, it inserts a row without a user, which
-- isn't sent, so that the response time is the same. Inserts nothing while another transaction inserts a mail
-- for the same user.
INSERT INTO outbox (kind, user_id, target, payload, given_up_at, created_at, expires_at)
SELECT %(kind)s, recipient.id, '{"type": "mail"}',
       jsonb_build_object('base_url', %(base_url)s::text),
       CASE WHEN recipient.id IS NULL THEN %(now)s::timestamptz END, %(now)s, %(expires_at)s
FROM (
    SELECT CASE WHEN NOT EXISTS (
        SELECT 1 FROM outbox m
        WHERE m.user_id = %(user_id)s::integer AND m.kind = %(kind)s AND m.created_at > %(before)s
    ) AND (
        SELECT count(*) FROM outbox m
        WHERE m.user_id = %(user_id)s::integer AND m.kind = %(kind)s
          AND m.created_at > %(now)s::timestamptz - interval '1 hour'
    ) < %(max_per_hour)s THEN %(user_id)s::integer END AS id
) AS recipient
ON CONFLICT DO NOTHING
RETURNING user_id IS NOT NULL AS will_be_sent;

-- name: find_last_mail
SELECT kind, attempts, sent_at, given_up_at, last_error, created_at
FROM outbox
WHERE user_id = %(user_id)s
ORDER BY id DESC
LIMIT 1;

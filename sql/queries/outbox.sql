-- Mails to users and deliveries to integrations. Written in the transaction of their cause, sent by a job, deleted by
-- age. `subject_id` is the integration, `user_id` the recipient of a mail, `kind` what a mail is (reset, welcome).

-- name: lease_mail
-- Leases the mail that has been due longest. The lease ends at `until`, so that another process sends the mail if
-- the first was killed. Integrations have their own queues: queries/integrations/integrations.sql.
WITH due AS (
    SELECT id FROM outbox
    WHERE due_at <= %(now)s AND sent_at IS NULL AND given_up_at IS NULL AND kind <> 'integration'
      AND user_id IS NOT NULL
    ORDER BY due_at, id
    LIMIT 1
    FOR UPDATE SKIP LOCKED
)
UPDATE outbox m
SET attempts = m.attempts + 1, due_at = %(until)s
FROM due
WHERE m.id = due.id
RETURNING m.id, m.kind, m.message_id, m.user_id, m.payload, m.attempts, m.expires_at, m.last_error;

-- name: settle_mail
-- Stores the result of an attempt, unless a later attempt has begun.
UPDATE outbox
SET sent_at = CASE WHEN %(result)s = 'sent' THEN %(now)s::timestamptz END,
    given_up_at = CASE WHEN %(result)s = 'given up' THEN %(now)s::timestamptz END,
    due_at = %(due_at)s, last_error = %(error)s
WHERE id = %(id)s AND attempts = %(attempts)s AND sent_at IS NULL AND given_up_at IS NULL;

-- name: retry_delivery
-- Makes a delivery due now unless it is sent. One that was given up starts again with the first attempt,
-- except for channels that have got it.
UPDATE outbox
SET attempts = CASE WHEN given_up_at IS NULL THEN attempts ELSE 0 END, due_at = 'epoch',
    given_up_at = NULL,
    payload = CASE WHEN payload ? 'channels' THEN payload || jsonb_build_object('channels', coalesce(
                  (SELECT jsonb_object_agg(key, value)
                   FROM jsonb_each_text(payload -> 'channels') WHERE value = ''), '{}'))
              ELSE payload END
WHERE id = %(id)s AND sent_at IS NULL;

-- name: delete_old_messages
-- Deletes only messages that were sent or given up.
DELETE FROM outbox
WHERE id IN (
    SELECT id FROM outbox
    WHERE coalesce(sent_at, given_up_at) < now() - make_interval(days => %(days)s)
    LIMIT %(chunk)s
);

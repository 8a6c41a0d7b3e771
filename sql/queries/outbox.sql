-- Messages to receivers outside of the service. `kind` says what the message is about (run, silence) or
-- what a mail is (reset, welcome), `target` where it goes, `subject_id` the run or endpoint, `user_id`
-- the recipient of a mail. Written in the transaction of their cause, sent by a job, deleted by age.

-- name: insert_messages
INSERT INTO outbox (kind, subject_id, target, payload)
SELECT kind, subject_id, target, payload
FROM json_to_recordset(%(items)s::json)
     AS x (kind text, subject_id bigint, target jsonb, payload jsonb);

-- name: claim_message
-- Claims the message that has been due longest, of a kind that the process sends and a target that is not
-- busy. Messages about one subject wait for each other, so that its last state arrives last.
-- The claim ends at `until`, so that another process sends the message if the first was killed.
-- Integrations have their own queues: queries/actions/integrations.sql.
WITH due AS (
    SELECT id FROM outbox o
    WHERE due_at <= %(now)s AND sent_at IS NULL AND given_up_at IS NULL
      AND kind <> 'integration' AND kind = ANY(%(kinds)s) AND NOT target = ANY(%(busy)s::jsonb[])
      AND NOT EXISTS (
          SELECT FROM outbox before
          WHERE before.subject_id = o.subject_id AND before.kind = o.kind AND before.id < o.id
            AND before.target = o.target AND before.sent_at IS NULL AND before.given_up_at IS NULL
      )
    ORDER BY due_at, id
    LIMIT 1
    FOR UPDATE SKIP LOCKED
)
UPDATE outbox m
SET attempts = m.attempts + 1, due_at = %(until)s
FROM due
WHERE m.id = due.id
RETURNING m.id, m.kind, m.message_id, m.subject_id, m.user_id, m.target, m.payload, m.attempts,
          m.expires_at, m.last_error;

-- name: settle_message
-- Stores the result of an attempt, unless a later attempt has begun.
UPDATE outbox
SET sent_at = CASE WHEN %(result)s = 'sent' THEN %(now)s::timestamptz END,
    given_up_at = CASE WHEN %(result)s = 'given up' THEN %(now)s::timestamptz END,
    due_at = %(due_at)s, last_error = %(error)s
WHERE id = %(id)s AND attempts = %(attempts)s AND sent_at IS NULL AND given_up_at IS NULL;

-- name: save_channels
-- Stores the channels of an integration that have got the message, or were given up.
UPDATE outbox SET payload = payload || jsonb_build_object('channels', %(channels)s::jsonb)
WHERE id = %(id)s AND attempts = %(attempts)s;

-- name: retry_message
-- Makes a message due now unless it is sent. A message that was given up starts again with the first attempt,
-- except for channels that have got it.
UPDATE outbox
SET attempts = CASE WHEN given_up_at IS NULL THEN attempts ELSE 0 END, due_at = 'epoch',
    given_up_at = NULL,
    payload = CASE WHEN payload ? 'channels' THEN payload || jsonb_build_object('channels', coalesce(
                  (SELECT jsonb_object_agg(key, value)
                   FROM jsonb_each_text(payload -> 'channels') WHERE value = ''), '{}'))
              ELSE payload END
WHERE id = %(id)s AND sent_at IS NULL;

-- name: list_messages
-- The newest messages about a subject.
SELECT id, target, payload, attempts, due_at, sent_at, given_up_at, last_error, created_at
FROM outbox
WHERE subject_id = %(subject_id)s AND kind = %(kind)s
ORDER BY id DESC
LIMIT %(limit)s;

-- name: delete_old_messages
-- Deletes only messages that were sent or given up.
DELETE FROM outbox
WHERE id IN (
    SELECT id FROM outbox
    WHERE coalesce(sent_at, given_up_at) < now() - make_interval(days => %(days)s)
    LIMIT %(chunk)s
);

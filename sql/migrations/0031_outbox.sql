-- Messages to receivers outside of the service, of every kind: notifications of runs and of silence,
-- mails to users. Written in the transaction of their cause.
--
-- The previous version still writes and sends notifications, silence_notifications and mails. This one
-- moves their rows here when they are due or settled (adopt_messages in queries/outbox.sql); a later
-- migration drops the three tables.

CREATE TABLE outbox (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind        text NOT NULL,
    message_id  text NOT NULL DEFAULT 'msg_' || gen_random_uuid(),
    subject_id  bigint,
    user_id     integer REFERENCES users (id) ON DELETE CASCADE,
    target      jsonb NOT NULL,
    payload     jsonb NOT NULL DEFAULT '{}',
    attempts    integer NOT NULL DEFAULT 0,
    due_at      timestamptz NOT NULL DEFAULT 'epoch',
    expires_at  timestamptz,
    sent_at     timestamptz,
    given_up_at timestamptz,
    last_error  text,
    created_at  timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX outbox_due_idx ON outbox (due_at) WHERE sent_at IS NULL AND given_up_at IS NULL;
CREATE INDEX outbox_settled_idx ON outbox (coalesce(sent_at, given_up_at))
    WHERE coalesce(sent_at, given_up_at) IS NOT NULL;
CREATE INDEX outbox_subject_idx ON outbox (subject_id, kind, id DESC) WHERE subject_id IS NOT NULL;
CREATE INDEX outbox_user_id_idx ON outbox (user_id, id DESC) WHERE user_id IS NOT NULL;
CREATE UNIQUE INDEX outbox_waiting_mail_key ON outbox (user_id, kind)
    WHERE sent_at IS NULL AND given_up_at IS NULL;

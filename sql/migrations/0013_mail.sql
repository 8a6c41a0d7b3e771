-- Links by which people set a password, mails that bring them, and passwords that were.

-- The link holds the secret; only its SHA-256 is here. Deleted when it has expired, or when the
-- user sets a password; the one that was used stays until it expires, so that it can say so.
CREATE TABLE reset_tokens (
    token_hash bytea PRIMARY KEY,
    user_id    integer NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    created_by text NOT NULL,
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    used_at    timestamptz
);

CREATE INDEX reset_tokens_user_id_idx ON reset_tokens (user_id);
CREATE INDEX reset_tokens_expires_at_idx ON reset_tokens (expires_at);

-- Written with what causes them, sent by a job. No link and no address: both are made when a mail
-- is sent. Without a user it is a request that nothing follows from.
CREATE TABLE mails (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind        text NOT NULL CHECK (kind IN ('reset', 'welcome')),
    user_id     integer REFERENCES users (id) ON DELETE CASCADE,
    base_url    text NOT NULL,
    attempts    integer NOT NULL DEFAULT 0,
    due_at      timestamptz NOT NULL,
    sent_at     timestamptz,
    given_up_at timestamptz,
    last_error  text,
    created_at  timestamptz NOT NULL
);

CREATE INDEX mails_due_idx ON mails (due_at) WHERE sent_at IS NULL AND given_up_at IS NULL;
CREATE UNIQUE INDEX mails_waiting_key ON mails (user_id, kind)
    WHERE sent_at IS NULL AND given_up_at IS NULL;
CREATE INDEX mails_user_id_idx ON mails (user_id, id DESC);
CREATE INDEX mails_created_at_idx ON mails (created_at);

-- Hashes of a user's last passwords before today's, which may not come back.
CREATE TABLE former_passwords (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    user_id       integer NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    password_hash text NOT NULL
);

CREATE INDEX former_passwords_user_id_idx ON former_passwords (user_id, id DESC);

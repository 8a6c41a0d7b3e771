-- People, what they may do, and their sessions.

CREATE TABLE roles (
    id          integer PRIMARY KEY,
    name        text NOT NULL UNIQUE,
    description text NOT NULL
);

INSERT INTO roles (id, name, description) VALUES
    (1, 'Admin', 'May do everything.'),
    (2, 'Editor', 'May change flags and segments.'),
    (3, 'Viewer', 'May look.');

CREATE TABLE users (
    id                   integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    account_type         text NOT NULL DEFAULT 'user' CHECK (account_type IN ('user', 'service')),
    username             text CHECK (length(username) BETWEEN 1 AND 200),
    email                text CHECK (length(email) BETWEEN 3 AND 320),
    name                 text CHECK (length(name) <= 200),
    role_id              integer NOT NULL REFERENCES roles (id),
    password_hash        text,
    has_built_in_password boolean NOT NULL DEFAULT false,
    login_attempts       integer NOT NULL DEFAULT 0,
    seen_at              timestamptz,
    created_at           timestamptz NOT NULL DEFAULT now(),
    CHECK (username IS NOT NULL OR email IS NOT NULL)
);

CREATE UNIQUE INDEX users_username_key ON users (lower(username));
CREATE UNIQUE INDEX users_email_key ON users (lower(email));

-- The cookie holds the id; only its SHA-256 is here. The expiry is set at sign-in.
CREATE TABLE sessions (
    id_hash    bytea PRIMARY KEY,
    user_id    integer NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL
);

CREATE INDEX sessions_user_id_idx ON sessions (user_id);
CREATE INDEX sessions_expires_at_idx ON sessions (expires_at);

-- People, their sign-in and sessions, and tokens.

CREATE TABLE roles (
    id integer PRIMARY KEY,
    name text NOT NULL UNIQUE,
    description text NOT NULL
);
INSERT INTO roles (id, name, description) VALUES
    (1, 'Admin', 'Full access.'),
    (2, 'Editor', 'Create and edit flags and segments.'),
    (3, 'Viewer', 'Read only.');

-- People and service accounts.
CREATE TABLE users (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    account_type text NOT NULL DEFAULT 'user' CHECK (account_type IN ('user', 'service')),
    username text CHECK (length(username) BETWEEN 1 AND 200),
    email text CHECK (length(email) BETWEEN 3 AND 320),
    name text CHECK (length(name) <= 200),
    role_id integer NOT NULL REFERENCES roles (id),
    password_hash text,
    has_built_in_password boolean NOT NULL DEFAULT false,
    login_attempts integer NOT NULL DEFAULT 0,
    seen_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now(),
    CHECK (username IS NOT NULL OR email IS NOT NULL)
);
CREATE UNIQUE INDEX users_email_key ON users (lower(email));
CREATE UNIQUE INDEX users_username_key ON users (lower(username));

-- Identities of users at the OpenID provider.
CREATE TABLE user_identities (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    user_id integer NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    issuer text NOT NULL,
    subject text NOT NULL,
    created_at timestamptz NOT NULL,
    last_sign_in_at timestamptz,
    UNIQUE (issuer, subject),
    UNIQUE (user_id, issuer)
);

-- The cookie holds the ID; only its SHA-256 is here. The expiry is set at sign-in. `provider_session` and
-- `provider_issued_at` are the session at the OpenID provider (sid) and when its token was issued (iat).
CREATE TABLE sessions (
    id_hash bytea PRIMARY KEY,
    user_id integer NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    id bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    last_used_at timestamptz,
    ip text,
    user_agent text CHECK (length(user_agent) <= 200),
    identity_id bigint REFERENCES user_identities (id) ON DELETE CASCADE,
    provider_session text,
    provider_issued_at timestamptz,
    id_token text,
    confirmed_at timestamptz
);
CREATE INDEX sessions_expires_at_idx ON sessions (expires_at);
CREATE INDEX sessions_identity_id ON sessions (identity_id) WHERE identity_id IS NOT NULL;
CREATE INDEX sessions_user_id_idx ON sessions (user_id);

-- Hashes of a user's last passwords before today's, which may not come back.
CREATE TABLE former_passwords (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    user_id integer NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    password_hash text NOT NULL
);
CREATE INDEX former_passwords_user_id_idx ON former_passwords (user_id, id DESC);

-- The link holds the secret; only its SHA-256 is here. Deleted when it has expired, or when the user sets a
-- password; the one that was used stays until it expires, so that it can say so.
CREATE TABLE reset_tokens (
    token_hash bytea PRIMARY KEY,
    user_id integer NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    created_by text NOT NULL,
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    used_at timestamptz
);
CREATE INDEX reset_tokens_expires_at_idx ON reset_tokens (expires_at);
CREATE INDEX reset_tokens_user_id_idx ON reset_tokens (user_id);

-- Tokens that act as their owner. The secret is shown once; its SHA-256 is here.
CREATE TABLE personal_tokens (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    user_id integer NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    description text NOT NULL CHECK (length(description) BETWEEN 1 AND 255),
    secret_hash bytea NOT NULL UNIQUE,
    secret_prefix text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL,
    seen_at timestamptz,
    UNIQUE (user_id, description)
);

-- Tokens of the admin, client and frontend API. The secret is shown once; its SHA-256 is here.
CREATE TABLE api_tokens (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    secret_hash bytea NOT NULL UNIQUE,
    secret_prefix text NOT NULL,
    token_name text NOT NULL,
    type text NOT NULL CHECK (type IN ('admin', 'client', 'frontend')),
    environment text NOT NULL,
    projects text[] NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz,
    created_by text,
    created_by_user_id integer,
    seen_at timestamptz
);
CREATE INDEX api_tokens_token_name_idx ON api_tokens (token_name);

-- Pages that are the result of a form and are shown once, such as that of a new token, from the redirect after
-- the form until the browser reads them. `id` and the key that encrypts `page` are derived from the cookie of the
-- session, so the database can't tell what a page shows.
CREATE TABLE once_pages (
    id text PRIMARY KEY,
    page bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);

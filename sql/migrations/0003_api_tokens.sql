-- Tokens of the admin, client and frontend API. The secret is shown once; its SHA-256 is here.

CREATE TABLE api_tokens (
    id            integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    secret_hash   bytea NOT NULL UNIQUE,
    secret_prefix text NOT NULL,
    token_name    text NOT NULL,
    type          text NOT NULL CHECK (type IN ('admin', 'client', 'frontend')),
    environment   text NOT NULL,
    projects      text[] NOT NULL,
    created_at    timestamptz NOT NULL DEFAULT now(),
    expires_at    timestamptz
);

-- API tokens know who made them and when they were seen; personal tokens act as their owner.

ALTER TABLE api_tokens
    ADD COLUMN created_by         text,
    ADD COLUMN created_by_user_id integer,
    ADD COLUMN seen_at            timestamptz;

CREATE INDEX api_tokens_token_name_idx ON api_tokens (token_name);

CREATE TABLE personal_tokens (
    id            integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    user_id       integer NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    description   text NOT NULL CHECK (length(description) BETWEEN 1 AND 255),
    secret_hash   bytea NOT NULL UNIQUE,
    secret_prefix text NOT NULL,
    created_at    timestamptz NOT NULL DEFAULT now(),
    expires_at    timestamptz NOT NULL,
    seen_at       timestamptz,
    UNIQUE (user_id, description)
);

-- The audit log is searched by flag, project and environment.
CREATE INDEX events_feature_name_id_idx ON events (feature_name, id DESC);
CREATE INDEX events_project_id_idx ON events (project, id DESC);

-- Identities of users at the OpenID provider, and how a session was opened: by which identity, in which session of
-- the provider (sid), when by the provider's clock (iat). The previous version of the service ignores both; its
-- sessions count as opened by password.

CREATE TABLE user_identities (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    user_id         integer NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    issuer          text NOT NULL,
    subject         text NOT NULL,
    created_at      timestamptz NOT NULL,
    last_sign_in_at timestamptz,
    UNIQUE (issuer, subject),
    UNIQUE (user_id, issuer)
);

ALTER TABLE sessions
    ADD COLUMN identity_id        bigint REFERENCES user_identities (id) ON DELETE CASCADE,
    ADD COLUMN provider_session   text,
    ADD COLUMN provider_issued_at timestamptz,
    ADD COLUMN id_token           text,
    ADD COLUMN confirmed_at       timestamptz;

CREATE INDEX sessions_identity_id ON sessions (identity_id) WHERE identity_id IS NOT NULL;

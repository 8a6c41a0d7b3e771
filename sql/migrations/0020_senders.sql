-- Settings of endpoints and credentials of senders: rates, idempotency, signatures, expiry, rotation.
--
-- `version` grows with each change of an endpoint or of its tokens, so that a process never uses
-- settings that it read before a change.
ALTER TABLE signal_endpoints
    ADD COLUMN options jsonb  NOT NULL DEFAULT '{}',
    ADD COLUMN version bigint NOT NULL DEFAULT 0;

-- A bearer token has a hash of its secret. A signature token has the encrypted secret that verifies
-- signatures, and none if a certificate verifies them. The previous secret is valid until
-- `previous_expires_at`.
ALTER TABLE signal_endpoint_tokens
    ALTER COLUMN secret_hash DROP NOT NULL,
    ADD COLUMN type                      text NOT NULL DEFAULT 'bearer'
                                         CHECK (type IN ('bearer', 'signature')),
    ADD COLUMN signature                 jsonb,
    ADD COLUMN encrypted_secret          bytea,
    ADD COLUMN previous_secret_hash      bytea,
    ADD COLUMN previous_encrypted_secret bytea,
    ADD COLUMN previous_expires_at       timestamptz,
    ADD COLUMN expires_at                timestamptz,
    ADD COLUMN allowed_addresses         text[] NOT NULL DEFAULT '{}',
    ADD CHECK (type = 'signature' OR secret_hash IS NOT NULL),
    ADD CHECK (type = 'bearer' OR signature IS NOT NULL);

-- Written once a minute.
CREATE TABLE signal_token_uses (
    token_id  integer PRIMARY KEY REFERENCES signal_endpoint_tokens (id) ON DELETE CASCADE,
    used_at   timestamptz NOT NULL,
    used_from text NOT NULL,
    uses      bigint NOT NULL
);

-- Calls that stored no signal, counted by reason and caller. `endpoint_id` is NULL if no endpoint has
-- the name.
CREATE TABLE refused_calls (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    endpoint_id   integer REFERENCES signal_endpoints (id) ON DELETE CASCADE,
    endpoint_name text NOT NULL,
    status        integer NOT NULL,
    reason        text NOT NULL,
    secret_prefix text NOT NULL,
    address       text NOT NULL,
    user_agent    text NOT NULL,
    calls         bigint NOT NULL,
    first_at      timestamptz NOT NULL,
    last_at       timestamptz NOT NULL
);

CREATE INDEX refused_calls_endpoint_id_idx ON refused_calls (endpoint_id);
CREATE INDEX refused_calls_endpoint_name_idx ON refused_calls (endpoint_name);

-- The first 16 bytes of the SHA-256 of a key; NULL for signals without one, and after its window.
ALTER TABLE signals ADD COLUMN idempotency_key uuid;

CREATE UNIQUE INDEX signals_idempotency_key_idx ON signals (endpoint_id, idempotency_key)
    WHERE idempotency_key IS NOT NULL;

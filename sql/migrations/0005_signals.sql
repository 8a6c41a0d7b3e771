-- Signal endpoints and what they received.

-- Where external systems report. `version` grows with each change of an endpoint or of its tokens, so that a
-- process never uses settings that it read before a change.
CREATE TABLE signal_endpoints (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE CHECK (name ~ '^[a-z0-9_-]{1,100}$'),
    description text CHECK (length(description) <= 1000),
    enabled boolean NOT NULL DEFAULT true,
    created_at timestamptz NOT NULL DEFAULT now(),
    created_by_user_id integer NOT NULL,
    options jsonb NOT NULL DEFAULT '{}',
    version bigint NOT NULL DEFAULT 0,
    -- The template that an endpoint was created from says which signals fire and resolve an alert.
    template text
);

-- A bearer token has a hash of its secret. A signature token has the encrypted secret that verifies signatures,
-- and none if a certificate verifies them. The previous secret is valid until `previous_expires_at`.
CREATE TABLE signal_endpoint_tokens (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    signal_endpoint_id integer NOT NULL REFERENCES signal_endpoints (id) ON DELETE CASCADE,
    name text NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
    secret_hash bytea UNIQUE,
    secret_prefix text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    created_by_user_id integer NOT NULL,
    type text NOT NULL DEFAULT 'bearer' CHECK (type IN ('bearer', 'signature')),
    signature jsonb,
    encrypted_secret bytea,
    previous_secret_hash bytea,
    previous_encrypted_secret bytea,
    previous_expires_at timestamptz,
    expires_at timestamptz,
    allowed_addresses text[] NOT NULL DEFAULT '{}',
    CHECK (type = 'signature' OR secret_hash IS NOT NULL),
    CHECK (type = 'bearer' OR signature IS NOT NULL),
    UNIQUE (signal_endpoint_id, name)
);

-- Written once a minute.
CREATE TABLE signal_token_uses (
    token_id integer PRIMARY KEY REFERENCES signal_endpoint_tokens (id) ON DELETE CASCADE,
    used_at timestamptz NOT NULL,
    used_from text NOT NULL,
    uses bigint NOT NULL
);

-- Calls that stored no signal, counted by reason and caller. `endpoint_id` is NULL if no endpoint has the name.
CREATE TABLE refused_calls (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    endpoint_id integer REFERENCES signal_endpoints (id) ON DELETE CASCADE,
    endpoint_name text NOT NULL,
    status integer NOT NULL,
    reason text NOT NULL,
    secret_prefix text NOT NULL,
    address text NOT NULL,
    user_agent text NOT NULL,
    calls bigint NOT NULL,
    first_at timestamptz NOT NULL,
    last_at timestamptz NOT NULL
);
CREATE INDEX refused_calls_endpoint_id_idx ON refused_calls (endpoint_id);
CREATE INDEX refused_calls_endpoint_name_idx ON refused_calls (endpoint_name);

-- Every signal that was acknowledged. No foreign keys: an endpoint with millions of signals is deleted in one
-- short transaction, after which no statement finds its signals, and the retention job deletes them in chunks.
--
-- The payload is json, not jsonb: kept as it was sent. jsonb would write 1e-16000 out in full, so that 100 kB
-- become 200 MB when they are read, and would put keys into an order of its own.
--
-- `sent_by` and `replay_of` are of a signal that a person sent from a page, or sent again.
CREATE TABLE signals (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    endpoint_id integer NOT NULL,
    token_id integer NOT NULL,
    payload json NOT NULL,
    payload_bytes integer NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    sent_by text,
    replay_of bigint,
    -- The first 16 bytes of the SHA-256 of a key; NULL for signals without one, and after its window.
    idempotency_key uuid
);
CREATE INDEX signals_created_at_idx ON signals USING brin (created_at);
CREATE INDEX signals_endpoint_id_idx ON signals (endpoint_id, id DESC);
CREATE UNIQUE INDEX signals_idempotency_key_idx ON signals (endpoint_id, idempotency_key)
WHERE idempotency_key IS NOT NULL;
CREATE INDEX signals_token_id_idx ON signals (token_id, id DESC);

-- Signals that some action set may want: written with the signal, deleted by the job that evaluates it.
CREATE TABLE signal_queue (
    signal_id bigint PRIMARY KEY,
    endpoint_id integer NOT NULL,
    queued_at timestamptz NOT NULL DEFAULT now()
);

-- What each action set did with a signal; written once, when the signal is taken from the queue.
CREATE TABLE signal_results (
    signal_id bigint PRIMARY KEY,
    results jsonb NOT NULL
);

-- Where external systems report, and the tokens that tell them apart.

CREATE TABLE signal_endpoints (
    id                 integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name               text NOT NULL UNIQUE CHECK (name ~ '^[a-z0-9_-]{1,100}$'),
    description        text CHECK (length(description) <= 1000),
    enabled            boolean NOT NULL DEFAULT true,
    created_at         timestamptz NOT NULL DEFAULT now(),
    created_by_user_id integer NOT NULL
);

CREATE TABLE signal_endpoint_tokens (
    id                 integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    signal_endpoint_id integer NOT NULL REFERENCES signal_endpoints (id) ON DELETE CASCADE,
    name               text NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
    secret_hash        bytea NOT NULL UNIQUE,
    secret_prefix      text NOT NULL,
    created_at         timestamptz NOT NULL DEFAULT now(),
    created_by_user_id integer NOT NULL,
    UNIQUE (signal_endpoint_id, name)
);

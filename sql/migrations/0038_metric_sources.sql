-- Prometheus and programs with its API. `encrypted_secret` is the password or token of `auth`.
CREATE TABLE metric_sources (
    name             text PRIMARY KEY,
    url              text NOT NULL,
    auth             jsonb NOT NULL,
    headers          jsonb NOT NULL,
    timeout_seconds  integer NOT NULL,
    encrypted_secret bytea,
    created_at       timestamptz NOT NULL DEFAULT now()
);

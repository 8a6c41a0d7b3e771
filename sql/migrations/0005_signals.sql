-- Every signal that was acknowledged. No foreign keys: an endpoint with millions of signals is
-- deleted in one short transaction, after which no finder sees its signals, and the retention
-- job removes them in chunks.
--
-- The payload is json, not jsonb: kept as it was sent. jsonb would write 1e-16000 out in full, so
-- that 100 kB become 200 MB when they are read, and would put keys into an order of its own.

CREATE TABLE signals (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    endpoint_id   integer NOT NULL,
    token_id      integer NOT NULL,
    payload       json NOT NULL,
    payload_bytes integer NOT NULL,
    created_at    timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX signals_endpoint_id_idx ON signals (endpoint_id, id DESC);
CREATE INDEX signals_token_id_idx ON signals (token_id, id DESC);
CREATE INDEX signals_created_at_idx ON signals USING brin (created_at);

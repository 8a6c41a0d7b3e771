-- Endpoints that expect signals: options.silence.

-- One row: how long the service was observed running, by all its processes together, so that neither
-- a stop nor a step of the clock counts as silence.
CREATE TABLE silence_clock (
    is_only   boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    seconds   double precision NOT NULL,
    ticked_at timestamptz NOT NULL
);

-- The state of each endpoint that expects signals. `…_seconds` are those of silence_clock, `…_at` are
-- times of the clock on the wall.
CREATE TABLE silence_checks (
    endpoint_id         integer PRIMARY KEY REFERENCES signal_endpoints (id) ON DELETE CASCADE,
    state               text NOT NULL CHECK (state IN ('new', 'up', 'late', 'down')),
    since               timestamptz NOT NULL,
    alert_key           text,
    last_signal_id      bigint,
    last_signal_at      timestamptz,
    last_signal_seconds double precision,
    started_seconds     double precision NOT NULL,
    waits_from_seconds  double precision NOT NULL,
    next_at             timestamptz,
    late_seconds        double precision,
    must_restart        boolean NOT NULL DEFAULT false
);

-- Apart from `notifications`, which the previous version of the service claims and gives up.
CREATE TABLE silence_notifications (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    endpoint_id integer NOT NULL,
    channel     jsonb NOT NULL,
    message     jsonb NOT NULL,
    attempts    integer NOT NULL DEFAULT 0,
    due_at      timestamptz NOT NULL DEFAULT 'epoch',
    sent_at     timestamptz,
    given_up_at timestamptz,
    last_error  text,
    created_at  timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX silence_notifications_due_idx ON silence_notifications (due_at)
    WHERE sent_at IS NULL AND given_up_at IS NULL;
CREATE INDEX silence_notifications_endpoint_id_idx ON silence_notifications (endpoint_id, id DESC);

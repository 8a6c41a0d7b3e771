-- Alert rules on impact metrics, and what the windows of impact metrics need for them.

-- The time of the reports in a window (NULL: all of it), the sum and number of the values of a gauge (NULL: the
-- last value only), and the cumulative buckets of a histogram.
ALTER TABLE impact_windows
    ADD COLUMN covers_from timestamptz,
    ADD COLUMN covers_to   timestamptz,
    ADD COLUMN total       double precision,
    ADD COLUMN samples     double precision,
    ADD COLUMN buckets     double precision[];

-- Finds the series of a metric.
CREATE INDEX impact_series_name_idx ON impact_series (name, environment);

-- `condition` is the source, limit and window as in the API. The rest is the result of the last evaluation, by
-- the job `alert rules`: `streak` evaluations in a row were on the other side of the limit, `has_fired` is true
-- from `firing` until the signal `resolved`.
CREATE TABLE alert_rules (
    id                 integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name               text NOT NULL UNIQUE,
    endpoint_id        integer NOT NULL REFERENCES signal_endpoints (id) ON DELETE CASCADE,
    enabled            boolean NOT NULL,
    condition          jsonb NOT NULL,
    created_at         timestamptz NOT NULL DEFAULT now(),
    created_by_user_id integer,
    due_at             timestamptz NOT NULL DEFAULT 'epoch',
    state              text NOT NULL DEFAULT 'unknown' CHECK (state IN ('ok', 'firing', 'unknown')),
    since              timestamptz NOT NULL DEFAULT now(),
    streak             integer NOT NULL DEFAULT 0,
    has_fired          boolean NOT NULL DEFAULT false,
    unknown_since      timestamptz,
    value              double precision,
    samples            double precision NOT NULL DEFAULT 0,
    window_from        timestamptz,
    window_to          timestamptz,
    reason             text NOT NULL DEFAULT 'The rule was not evaluated yet.',
    evaluated_at       timestamptz,
    last_error         text
);

CREATE INDEX alert_rules_endpoint_id_idx ON alert_rules (endpoint_id);

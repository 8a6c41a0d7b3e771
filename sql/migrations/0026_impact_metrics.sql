-- Impact metrics: what applications measure (purchases, latency) with the variants that flags had.

-- One row for each series: a metric with all its labels, and for a histogram its bounds. `key` is their hash.
-- A counter has its total in `value`, a gauge its last value, a histogram the sum of its observations, whose
-- `buckets` are cumulative counts up to each of the `bounds`. No index contains a column that each report
-- changes.
CREATE TABLE impact_series (
    key         uuid PRIMARY KEY,
    sdk_type    text NOT NULL CHECK (sdk_type IN ('backend', 'frontend')),
    environment text NOT NULL,
    app_name    text NOT NULL,
    name        text NOT NULL,
    type        text NOT NULL CHECK (type IN ('counter', 'gauge', 'histogram')),
    help        text NOT NULL,
    labels      jsonb NOT NULL,
    bounds      double precision[] NOT NULL,
    value       double precision NOT NULL,
    count       double precision NOT NULL,
    buckets     double precision[] NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT now(),
    reported_at timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 70);

-- Counts the series of an application, and finds them to delete them.
CREATE INDEX impact_series_app_name_idx ON impact_series (app_name, environment, sdk_type);
-- Finds the series with a label that names a flag.
CREATE INDEX impact_series_labels_idx ON impact_series USING gin (labels);

-- What a series received in a minute (`seconds` 60) and in an hour (3600); of a gauge the last value. No
-- foreign key, whose check would cost each report.
CREATE TABLE impact_windows (
    series    uuid NOT NULL,
    seconds   integer NOT NULL,
    starts_at timestamptz NOT NULL,
    is_gauge  boolean NOT NULL,
    value     double precision NOT NULL,
    count     double precision NOT NULL,
    PRIMARY KEY (series, seconds, starts_at)
);

CREATE INDEX impact_windows_starts_at_idx ON impact_windows (seconds, starts_at);

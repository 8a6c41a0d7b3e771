-- What SDKs report.

-- What applications tell about themselves. No foreign keys in this file: writes stay cheap and history outlives
-- the flag.
CREATE TABLE client_applications (
    app_name text PRIMARY KEY,
    description text,
    strategies jsonb NOT NULL DEFAULT '[]',
    created_at timestamptz NOT NULL DEFAULT now(),
    seen_at timestamptz NOT NULL DEFAULT now()
);

-- Names of applications that are accepted, up to a limit for each environment and SDK type.
CREATE TABLE client_application_environments (
    environment text NOT NULL,
    sdk_type text NOT NULL CHECK (sdk_type IN ('backend', 'frontend')),
    app_name text NOT NULL,
    seen_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (environment, sdk_type, app_name)
);

-- `impact_stops` has the end of the last report of each impact metric, by name: SDKs that never reset the start of
-- their reports send what was added since then.
CREATE TABLE client_instances (
    app_name text NOT NULL,
    instance_id text NOT NULL,
    environment text NOT NULL,
    sdk_version text,
    sdk_type text,
    client_ip text,
    created_at timestamptz NOT NULL DEFAULT now(),
    last_seen timestamptz NOT NULL DEFAULT now(),
    impact_stops jsonb NOT NULL DEFAULT '{}',
    PRIMARY KEY (app_name, instance_id, environment)
);
-- Counts the instances of an environment.
CREATE INDEX client_instances_environment_idx ON client_instances (environment, sdk_type);
CREATE INDEX client_instances_last_seen_idx ON client_instances (last_seen);

-- `frontend_*` is the part that frontend tokens have reported: they are public, so anyone can report with them.
CREATE TABLE client_metrics (
    feature text NOT NULL,
    app_name text NOT NULL,
    environment text NOT NULL,
    hour timestamptz NOT NULL,
    yes bigint NOT NULL,
    no bigint NOT NULL,
    frontend_yes bigint NOT NULL DEFAULT 0,
    frontend_no bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (feature, app_name, environment, hour)
);
CREATE INDEX client_metrics_hour_idx ON client_metrics (hour);

CREATE TABLE client_metrics_variants (
    feature text NOT NULL,
    app_name text NOT NULL,
    environment text NOT NULL,
    hour timestamptz NOT NULL,
    variant text NOT NULL,
    count bigint NOT NULL,
    frontend_count bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (feature, app_name, environment, hour, variant)
);
CREATE INDEX client_metrics_variants_hour_idx ON client_metrics_variants (hour);

-- How often SDKs poll, by environment: 0 for those that stream. A release waits so long before it expects that a
-- step has reached them.
CREATE TABLE poll_intervals (
    environment text NOT NULL,
    seconds integer NOT NULL CHECK (seconds BETWEEN 0 AND 86400),
    seen_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (environment, seconds)
);

-- The series of a metric of an application, whatever their labels: their windows are summed in impact_windows when
-- they are reported, with the group as `series`. An alert rule without labels reads a few groups instead of
-- thousands of series. `key` is the hash of the other columns.
CREATE TABLE impact_groups (
    key uuid PRIMARY KEY,
    sdk_type text NOT NULL CHECK (sdk_type IN ('backend', 'frontend')),
    environment text NOT NULL,
    app_name text NOT NULL,
    name text NOT NULL,
    type text NOT NULL CHECK (type IN ('counter', 'gauge', 'histogram')),
    bounds double precision[] NOT NULL
);
CREATE INDEX impact_groups_app_name_idx ON impact_groups (app_name);
CREATE INDEX impact_groups_name_app_name_idx ON impact_groups (name, environment, sdk_type, app_name);

-- One row for each series: a metric with all its labels, and for a histogram its bounds. `key` is their hash. A
-- counter has its total in `value`, a gauge its last value, a histogram the sum of its observations, whose
-- `buckets` are cumulative counts up to each of the `bounds`. No index contains a column that each report changes.
CREATE TABLE impact_series (
    key uuid PRIMARY KEY,
    sdk_type text NOT NULL CHECK (sdk_type IN ('backend', 'frontend')),
    environment text NOT NULL,
    app_name text NOT NULL,
    name text NOT NULL,
    type text NOT NULL CHECK (type IN ('counter', 'gauge', 'histogram')),
    help text NOT NULL,
    labels jsonb NOT NULL,
    bounds double precision[] NOT NULL,
    value double precision NOT NULL,
    count double precision NOT NULL,
    buckets double precision[] NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    reported_at timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor=70);
-- Counts the series of an application, and finds them to delete them.
CREATE INDEX impact_series_app_name_idx ON impact_series (app_name, environment, sdk_type);
-- Finds the series with a label that names a flag.
CREATE INDEX impact_series_labels_idx ON impact_series USING gin (labels);
-- Finds the series of a metric.
CREATE INDEX impact_series_name_idx ON impact_series (name, environment);

-- What rules read: a condition on `is_group` chooses the groups, or the series with their labels.
CREATE VIEW impact_sources AS
SELECT key, sdk_type, environment, app_name, name, type, bounds, '{}'::jsonb AS labels, true AS is_group
FROM impact_groups
UNION ALL
SELECT key, sdk_type, environment, app_name, name, type, bounds, labels, false AS is_group
FROM impact_series;

-- What a series received in a minute (`seconds` 60) and in an hour (3600): the time of its reports (NULL: all of
-- it), of a gauge the last value and the sum and number of its values (NULL: the last value only), of a histogram
-- the cumulative buckets. No foreign key, whose check would cost each report.
CREATE TABLE impact_windows (
    series uuid NOT NULL,
    seconds integer NOT NULL,
    starts_at timestamptz NOT NULL,
    is_gauge boolean NOT NULL,
    value double precision NOT NULL,
    count double precision NOT NULL,
    covers_from timestamptz,
    covers_to timestamptz,
    total double precision,
    samples double precision,
    buckets double precision[],
    PRIMARY KEY (series, seconds, starts_at)
);
CREATE INDEX impact_windows_starts_at_idx ON impact_windows (seconds, starts_at);

-- What applications tell about themselves. No foreign keys: writes stay cheap and history outlives
-- the flag.

CREATE TABLE client_applications (
    app_name    text PRIMARY KEY,
    description text,
    strategies  jsonb NOT NULL DEFAULT '[]',
    created_at  timestamptz NOT NULL DEFAULT now(),
    seen_at     timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE client_instances (
    app_name    text NOT NULL,
    instance_id text NOT NULL,
    environment text NOT NULL,
    sdk_version text,
    sdk_type    text,
    client_ip   text,
    created_at  timestamptz NOT NULL DEFAULT now(),
    last_seen   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (app_name, instance_id, environment)
);

CREATE INDEX client_instances_last_seen_idx ON client_instances (last_seen);

CREATE TABLE client_metrics (
    feature     text NOT NULL,
    app_name    text NOT NULL,
    environment text NOT NULL,
    hour        timestamptz NOT NULL,
    yes         bigint NOT NULL,
    no          bigint NOT NULL,
    PRIMARY KEY (feature, app_name, environment, hour)
);

CREATE INDEX client_metrics_hour_idx ON client_metrics (hour);

CREATE TABLE client_metrics_variants (
    feature     text NOT NULL,
    app_name    text NOT NULL,
    environment text NOT NULL,
    hour        timestamptz NOT NULL,
    variant     text NOT NULL,
    count       bigint NOT NULL,
    PRIMARY KEY (feature, app_name, environment, hour, variant)
);

CREATE INDEX client_metrics_variants_hour_idx ON client_metrics_variants (hour);

-- What SDKs report, apart from what a change of a flag writes, and how much of it there is.

-- Takes the place of `last_seen_at` of features and feature_environments, which the version before
-- still writes: reports and changes of a flag no longer lock the same rows. No foreign keys, whose
-- checks would lock the flag; the retention job deletes the rows of flags that are gone.
CREATE TABLE feature_last_seen (
    feature     text NOT NULL,
    environment text NOT NULL,
    seen_at     timestamptz NOT NULL,
    PRIMARY KEY (feature, environment)
);

-- Names of applications that are accepted, up to a limit for each environment and SDK type.
CREATE TABLE client_application_environments (
    environment text NOT NULL,
    sdk_type    text NOT NULL CHECK (sdk_type IN ('backend', 'frontend')),
    app_name    text NOT NULL,
    seen_at     timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (environment, sdk_type, app_name)
);

-- Counts the instances of an environment.
CREATE INDEX client_instances_environment_idx ON client_instances (environment, sdk_type);

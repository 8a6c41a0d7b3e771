-- The series of a metric of an application, whatever their labels: their windows are summed in impact_windows when
-- they are reported, with the group as `series`. An alert rule without labels reads a few groups instead of
-- thousands of series. `key` is the hash of the other columns.
CREATE TABLE impact_groups (
    key         uuid PRIMARY KEY,
    sdk_type    text NOT NULL CHECK (sdk_type IN ('backend', 'frontend')),
    environment text NOT NULL,
    app_name    text NOT NULL,
    name        text NOT NULL,
    type        text NOT NULL CHECK (type IN ('counter', 'gauge', 'histogram')),
    bounds      double precision[] NOT NULL
);

CREATE INDEX impact_groups_name_idx ON impact_groups (name, environment);
CREATE INDEX impact_groups_app_name_idx ON impact_groups (app_name);

-- What rules read: a condition on `is_group` chooses the groups, or the series with their labels.
CREATE VIEW impact_sources AS
SELECT key, sdk_type, environment, app_name, name, type, bounds, '{}'::jsonb AS labels, true AS is_group
FROM impact_groups
UNION ALL
SELECT key, sdk_type, environment, app_name, name, type, bounds, labels, false
FROM impact_series;

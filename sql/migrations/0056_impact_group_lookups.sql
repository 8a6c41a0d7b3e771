-- Finds the groups of a metric by SDK type, and those of an application, whose different bounds are limited.

CREATE INDEX impact_groups_name_app_name_idx ON impact_groups (name, environment, sdk_type, app_name);
DROP INDEX impact_groups_name_idx;

-- The environments of projects. Written by editors. Removing one deletes the states of the project's
-- flags there and keeps their strategies.

-- name: link_environments
-- Returns the environments that weren't linked.
INSERT INTO project_environments (project, environment)
SELECT %(project)s, environment FROM unnest(%(environments)s::text[]) AS environment
ON CONFLICT DO NOTHING
RETURNING environment;

-- name: link_all_projects
-- Links every project to each of the environments; returns the new links.
INSERT INTO project_environments (project, environment)
SELECT projects.id, environment
FROM projects CROSS JOIN unnest(%(environments)s::text[]) AS environment
ON CONFLICT DO NOTHING
RETURNING project, environment;

-- name: unlink_environment
-- The flags that were enabled there; no row if the project didn't use it.
WITH states AS (
    DELETE FROM feature_environments
    USING features
    WHERE features.name = feature_environments.feature
      AND features.project = %(project)s
      AND feature_environments.environment = %(environment)s
    RETURNING features.name, feature_environments.enabled AND features.archived_at IS NULL AS is_on
)
DELETE FROM project_environments
WHERE project = %(project)s AND environment = %(environment)s
RETURNING ARRAY(SELECT name FROM states WHERE is_on ORDER BY name) AS flags;

-- name: list_environments_with_strategy
-- The environments that the project uses, by sort order.
SELECT project_environments.environment, project_environments.default_strategy
FROM project_environments
JOIN environments ON environments.name = project_environments.environment
WHERE project_environments.project = %(project)s
ORDER BY environments.sort_order, environments.name;

-- name: update_default_strategy
UPDATE project_environments
SET default_strategy = %(strategy)s
WHERE project = %(project)s AND environment = %(environment)s;

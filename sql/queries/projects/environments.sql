-- Environments. Written by admins, and at start by the configuration. Deleting one deletes the states
-- and strategies of flags in it.

-- name: list_environments
-- All environments or the one with this name, with the number of projects, tokens and enabled flags.
SELECT environments.name, environments.type, environments.sort_order, environments.enabled,
    environments.protected,
    (SELECT count(*) FROM project_environments
     WHERE project_environments.environment = environments.name) AS project_count,
    (SELECT count(*) FROM api_tokens
     WHERE api_tokens.environment = environments.name) AS api_token_count,
    coalesce(counts.features, 0) AS enabled_toggle_count
FROM environments
LEFT JOIN (
    SELECT feature_environments.environment, count(*) AS features
    FROM feature_environments
    JOIN features ON features.name = feature_environments.feature AND features.archived_at IS NULL
    WHERE feature_environments.enabled
      AND (%(name)s::text IS NULL OR feature_environments.environment = %(name)s)
    GROUP BY feature_environments.environment
) AS counts ON counts.environment = environments.name
WHERE %(name)s::text IS NULL OR environments.name = %(name)s
ORDER BY environments.sort_order, environments.name;

-- name: list_enabled_names
SELECT name FROM environments WHERE enabled ORDER BY sort_order, name;

-- name: list_environments_of_project
-- All environments; `visible` is true if the project uses it.
SELECT environments.name, environments.type, environments.sort_order, environments.enabled,
    environments.protected,
    project_environments.project IS NOT NULL AS visible,
    project_environments.default_strategy,
    (SELECT count(*) FROM api_tokens
     WHERE api_tokens.environment = environments.name
       AND %(project)s = ANY (api_tokens.projects)) AS api_token_count,
    (SELECT count(*)
     FROM feature_environments
     JOIN features ON features.name = feature_environments.feature AND features.archived_at IS NULL
     WHERE feature_environments.environment = environments.name
       AND feature_environments.enabled
       AND features.project = %(project)s) AS enabled_toggle_count
FROM environments
LEFT JOIN project_environments ON project_environments.environment = environments.name
    AND project_environments.project = %(project)s
ORDER BY environments.sort_order, environments.name;

-- name: put_environments
INSERT INTO environments (name, type, sort_order, enabled, protected)
SELECT name, type, "sortOrder", enabled, protected
FROM jsonb_to_recordset(%(items)s::jsonb)
     AS x (name text, type text, "sortOrder" integer, enabled boolean, protected boolean)
ON CONFLICT (name) DO UPDATE
SET type = excluded.type, sort_order = excluded.sort_order, enabled = excluded.enabled,
    protected = excluded.protected;

-- name: update_sort_orders
UPDATE environments
SET sort_order = orders.sort_order
FROM unnest(%(names)s::text[], %(sort_orders)s::integer[]) AS orders (name, sort_order)
WHERE environments.name = orders.name;

-- name: enable_only
-- Disables all others. Returns the environments that changed.
UPDATE environments
SET enabled = NOT enabled
WHERE enabled <> (name = ANY (%(names)s::text[]))
RETURNING name, enabled;

-- name: delete_environment
DELETE FROM environments WHERE name = %(name)s;

-- Environments. Written by admins and by the configuration at start. What a flag is in one of them
-- goes with it.

-- name: list_environments
-- All, or the one named; with what uses it.
SELECT environments.name, environments.type, environments.sort_order, environments.enabled,
    environments.protected,
    (SELECT count(*) FROM project_environments
     WHERE project_environments.environment = environments.name) AS project_count,
    (SELECT count(*) FROM api_tokens
     WHERE api_tokens.environment = environments.name) AS api_token_count,
    (SELECT count(*)
     FROM feature_environments
     JOIN features ON features.name = feature_environments.feature AND features.archived_at IS NULL
     WHERE feature_environments.environment = environments.name
       AND feature_environments.enabled) AS enabled_toggle_count
FROM environments
WHERE %(name)s::text IS NULL OR environments.name = %(name)s
ORDER BY environments.sort_order, environments.name;

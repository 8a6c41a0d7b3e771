-- Kinds of strategies. The built-in ones can be deprecated, and neither changed nor deleted.

-- name: list_strategy_types
-- All, or the one named.
SELECT name, title, description, parameters, deprecated, built_in
FROM strategy_types
WHERE %(name)s::text IS NULL OR name = %(name)s
ORDER BY sort_order, name;

-- name: insert_strategy_type
INSERT INTO strategy_types (name, title, description, parameters)
VALUES (%(name)s, %(title)s, %(description)s, %(parameters)s);

-- name: update_strategy_type
UPDATE strategy_types
SET title = %(title)s, description = %(description)s, parameters = %(parameters)s,
    deprecated = %(deprecated)s
WHERE name = %(name)s;

-- name: delete_strategy_type
DELETE FROM strategy_types WHERE name = %(name)s;

-- name: list_flags_of_strategy_type
-- The first few that use it.
SELECT DISTINCT feature FROM feature_strategies WHERE name = %(name)s ORDER BY feature LIMIT 5;

-- name: list_projects_of_strategy_type
-- Those that have it as a default strategy, the first few.
SELECT DISTINCT project
FROM project_environments
WHERE default_strategy->>'name' = %(name)s
ORDER BY project
LIMIT 5;

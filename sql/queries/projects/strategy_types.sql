-- Types of strategies. Written by editors. Built-in types can be deprecated, but not changed or
-- deleted.

-- name: list_strategy_types
-- All types or the one with this name.
SELECT name, title, description, parameters, deprecated, built_in, sort_order
FROM strategy_types
WHERE %(name)s::text IS NULL OR name = %(name)s
ORDER BY sort_order, name;

-- name: put_strategy_types
INSERT INTO strategy_types (name, title, description, parameters, deprecated, sort_order)
SELECT name, title, description, parameters, deprecated, "sortOrder"
FROM jsonb_to_recordset(%(items)s::jsonb)
     AS x (name text, title text, description text, parameters jsonb, deprecated boolean,
           "sortOrder" integer)
ON CONFLICT (name) DO UPDATE
SET title = excluded.title, description = excluded.description,
    parameters = excluded.parameters, deprecated = excluded.deprecated,
    sort_order = excluded.sort_order;

-- name: delete_strategy_type
DELETE FROM strategy_types WHERE name = %(name)s;

-- name: list_flags_of_strategy_type
-- Up to five flags that use it.
SELECT DISTINCT feature FROM feature_strategies WHERE name = %(name)s ORDER BY feature LIMIT 5;

-- name: list_projects_of_strategy_type
-- Up to five projects with a default strategy of the type.
SELECT DISTINCT project
FROM project_environments
WHERE default_strategy->>'name' = %(name)s
ORDER BY project
LIMIT 5;

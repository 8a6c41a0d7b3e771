-- Kinds of strategies. The built-in ones can be deprecated, and neither changed nor deleted.

-- name: list_strategy_types
-- All, or the one named.
SELECT name, title, description, parameters, deprecated, built_in
FROM strategy_types
WHERE %(name)s::text IS NULL OR name = %(name)s
ORDER BY sort_order, name;

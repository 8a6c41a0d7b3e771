-- Types of flags. Migrations insert the rows.

-- name: list_feature_types
-- All types or the one with this ID.
SELECT id, name, description, lifetime_days
FROM feature_types
WHERE %(id)s::text IS NULL OR id = %(id)s
ORDER BY lifetime_days DESC NULLS LAST, id;

-- name: put_feature_types
UPDATE feature_types
SET lifetime_days = x."lifetimeDays"
FROM jsonb_to_recordset(%(items)s::jsonb) AS x (id text, "lifetimeDays" integer)
WHERE feature_types.id = x.id;

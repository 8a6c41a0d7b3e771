-- Tags on flags. A tag comes into being when the first flag gets it.

-- name: add_feature_tags
WITH wanted AS (
    SELECT type, value FROM unnest(%(types)s::text[], %(values)s::text[]) AS t (type, value)
), made AS (
    INSERT INTO tags (type, value) SELECT type, value FROM wanted ON CONFLICT DO NOTHING
)
INSERT INTO feature_tags (feature, type, value)
SELECT feature, w.type, w.value FROM wanted w CROSS JOIN unnest(%(features)s::text[]) AS feature
ON CONFLICT DO NOTHING
RETURNING feature, type, value;

-- name: delete_feature_tags
DELETE FROM feature_tags t
USING unnest(%(types)s::text[], %(values)s::text[]) AS w (type, value)
WHERE t.feature = ANY(%(features)s) AND t.type = w.type AND t.value = w.value
RETURNING t.feature, t.type, t.value;

-- name: list_feature_tags
SELECT feature, type, value FROM feature_tags WHERE feature = ANY(%(features)s)
ORDER BY feature, type, value;

-- name: list_missing_tag_types
SELECT DISTINCT w.type FROM unnest(%(types)s::text[]) AS w (type)
WHERE NOT EXISTS (SELECT 1 FROM tag_types t WHERE t.name = w.type);

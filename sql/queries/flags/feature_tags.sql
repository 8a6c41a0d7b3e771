-- Tags on flags. The first flag with a tag creates it.

-- name: add_feature_tags
WITH new AS (
    SELECT type, value FROM unnest(%(types)s::text[], %(values)s::text[]) AS t (type, value)
), new_tags AS (
    INSERT INTO tags (type, value) SELECT type, value FROM new ON CONFLICT DO NOTHING
)
INSERT INTO feature_tags (feature, type, value)
SELECT feature, n.type, n.value FROM new n CROSS JOIN unnest(%(features)s::text[]) AS feature
ON CONFLICT DO NOTHING
RETURNING feature, type, value;

-- name: delete_feature_tags
DELETE FROM feature_tags t
USING unnest(%(types)s::text[], %(values)s::text[]) AS r (type, value)
WHERE t.feature = ANY(%(features)s) AND t.type = r.type AND t.value = r.value
RETURNING t.feature, t.type, t.value;

-- name: list_feature_tags
SELECT feature, type, value FROM feature_tags WHERE feature = ANY(%(features)s)
ORDER BY feature, type, value;

-- name: list_missing_tag_types
SELECT DISTINCT n.type FROM unnest(%(types)s::text[]) AS n (type)
WHERE NOT EXISTS (SELECT 1 FROM tag_types t WHERE t.name = n.type);

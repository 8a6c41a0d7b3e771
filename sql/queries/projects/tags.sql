-- Tags: a type and a value. Written by editors. Deleting one removes it from its flags.

-- name: list_tags
-- All tags, the tags of a type, or the one with this type and value.
SELECT tags.type, tags.value, tag_types.color
FROM tags
JOIN tag_types ON tag_types.name = tags.type
WHERE (%(type)s::text IS NULL OR tags.type = %(type)s)
  AND (%(value)s::text IS NULL OR tags.value = %(value)s)
ORDER BY tags.type, tags.value;

-- name: put_tags
INSERT INTO tags (type, value)
SELECT type, value FROM jsonb_to_recordset(%(items)s::jsonb) AS x (type text, value text)
ON CONFLICT DO NOTHING;

-- name: delete_tag
DELETE FROM tags WHERE type = %(type)s AND value = %(value)s;

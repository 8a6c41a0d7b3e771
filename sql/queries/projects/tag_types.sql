-- Types of tags. Written by editors. Deleting one deletes its tags, also from flags.

-- name: list_tag_types
-- All types or the one with this name.
SELECT name, description, icon, color
FROM tag_types
WHERE %(name)s::text IS NULL OR name = %(name)s
ORDER BY name;

-- name: put_tag_types
INSERT INTO tag_types (name, description, icon, color)
SELECT name, description, icon, color
FROM jsonb_to_recordset(%(items)s::jsonb)
     AS x (name text, description text, icon text, color text)
ON CONFLICT (name) DO UPDATE
SET description = excluded.description, icon = excluded.icon, color = excluded.color;

-- name: delete_tag_type
DELETE FROM tag_types WHERE name = %(name)s;

-- Types of tags. Written by editors. Deleting one deletes its tags, also from flags.

-- name: list_tag_types
-- All types or the one with this name.
SELECT name, description, icon, color
FROM tag_types
WHERE %(name)s::text IS NULL OR name = %(name)s
ORDER BY name;

-- name: insert_tag_type
INSERT INTO tag_types (name, description, icon, color)
VALUES (%(name)s, %(description)s, %(icon)s, %(color)s);

-- name: update_tag_type
UPDATE tag_types
SET description = %(description)s, icon = %(icon)s, color = %(color)s
WHERE name = %(name)s;

-- name: delete_tag_type
DELETE FROM tag_types WHERE name = %(name)s;

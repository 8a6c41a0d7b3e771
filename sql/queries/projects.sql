-- Projects: who owns flags.

-- name: find_project
SELECT id, name, description, mode, default_stickiness, created_at, updated_at
FROM projects
WHERE id = %(id)s;

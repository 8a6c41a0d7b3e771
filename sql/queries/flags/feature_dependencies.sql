-- Dependencies: a flag has at most one parent.

-- name: upsert_dependency
INSERT INTO feature_dependencies (child, parent, enabled, variants)
VALUES (%(child)s, %(parent)s, %(enabled)s, %(variants)s::jsonb)
ON CONFLICT (child) DO UPDATE
SET parent = excluded.parent, enabled = excluded.enabled, variants = excluded.variants;

-- name: list_dependencies
-- The dependencies in which one of these flags is the child or the parent.
SELECT d.child, d.parent, d.enabled, d.variants, c.archived_at IS NULL AS child_is_active
FROM feature_dependencies d
JOIN features c ON c.name = d.child
WHERE d.child = ANY(%(features)s) OR d.parent = ANY(%(features)s)
ORDER BY d.child;

-- name: list_possible_parents
SELECT f.name
FROM features f
WHERE f.project = %(project)s AND f.archived_at IS NULL AND f.name <> %(child)s
  AND NOT EXISTS (SELECT 1 FROM feature_dependencies d WHERE d.child = f.name)
ORDER BY f.name;

-- name: delete_dependency
DELETE FROM feature_dependencies WHERE child = %(child)s AND parent = %(parent)s;

-- name: delete_dependencies_by_children
DELETE FROM feature_dependencies WHERE child = ANY(%(features)s);

-- Segments: named sets of constraints that strategies share.

-- name: insert_segment
INSERT INTO segments (name, description, project, constraints, created_by, created_by_user_id)
VALUES (%(name)s, %(description)s, %(project)s, %(constraints)s::jsonb, %(created_by)s,
        %(created_by_user_id)s)
RETURNING id, name, description, project, constraints, created_at, created_by;

-- name: count_segments
SELECT count(*) FROM segments;

-- name: find_segment_by_name
SELECT id, name, description, project, constraints, created_at, created_by
FROM segments
WHERE name = %(name)s;

-- name: list_segments
SELECT g.id, g.name, g.description, g.project, g.constraints, g.created_at, g.created_by,
       coalesce(u.features, 0) AS used_in_features, coalesce(u.projects, 0) AS used_in_projects,
       coalesce(u.first_features, '{}') AS first_features
FROM segments g
LEFT JOIN (SELECT x.segment_id, count(DISTINCT s.feature) AS features,
                  count(DISTINCT f.project) AS projects,
                  (array_agg(DISTINCT s.feature ORDER BY s.feature))[1:5] AS first_features
           FROM strategy_segments x
           JOIN feature_strategies s ON s.id = x.strategy_id
           JOIN features f ON f.name = s.feature
           GROUP BY x.segment_id) u ON u.segment_id = g.id
ORDER BY g.name;

-- name: list_segments_by_id
SELECT id, name, description, project, constraints, created_at, created_by
FROM segments
WHERE id = ANY(%(ids)s::int[])
ORDER BY id;

-- name: list_segment_strategies
-- The strategies that use a segment, also in archived flags.
SELECT s.id, s.feature, s.environment, s.name, f.project
FROM strategy_segments x
JOIN feature_strategies s ON s.id = x.strategy_id
JOIN features f ON f.name = s.feature
WHERE x.segment_id = %(id)s
ORDER BY s.feature, s.environment, s.id;

-- name: update_segment
UPDATE segments
SET name = %(name)s, description = %(description)s, project = %(project)s,
    constraints = %(constraints)s::jsonb
WHERE id = %(id)s
RETURNING id, name, description, project, constraints, created_at, created_by;

-- name: delete_segment
DELETE FROM segments WHERE id = %(id)s;

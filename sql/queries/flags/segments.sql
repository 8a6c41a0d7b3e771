-- Segments: named sets of constraints that strategies share.

-- name: put_segments
-- Creator and creation time of an existing segment don't change.
INSERT INTO segments (name, description, project, constraints, created_at, created_by,
                      created_by_user_id)
SELECT name, description, project, constraints, coalesce("createdAt", now()),
       coalesce("createdBy", %(created_by)s),
       CASE WHEN "createdBy" IS NULL THEN %(created_by_user_id)s::int END
FROM jsonb_to_recordset(%(items)s::jsonb)
     AS x (name text, description text, project text, constraints jsonb, "createdAt" timestamptz,
           "createdBy" text)
ON CONFLICT (name) DO UPDATE
SET description = excluded.description, project = excluded.project,
    constraints = excluded.constraints;

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
JOIN environments e ON e.name = s.environment
WHERE x.segment_id = %(id)s
ORDER BY s.feature, e.sort_order, s.environment, s.id;

-- name: list_default_strategies_of_segment
-- The places of the default strategies that use a segment.
SELECT project, environment
FROM project_environments
WHERE default_strategy->'segments' @> to_jsonb(%(id)s::int)
ORDER BY project, environment;

-- name: update_segment
UPDATE segments
SET name = x.name, description = x.description, project = x.project, constraints = x.constraints
FROM jsonb_to_record(%(item)s::jsonb)
     AS x (name text, description text, project text, constraints jsonb)
WHERE segments.id = %(id)s
RETURNING segments.id, segments.name, segments.description, segments.project,
          segments.constraints, segments.created_at, segments.created_by;

-- name: delete_segment
DELETE FROM segments WHERE id = %(id)s;

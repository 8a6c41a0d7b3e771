-- Context fields, which constraints refer to. Written by editors.

-- name: list_context_fields
SELECT name, description, stickiness, sort_order, legal_values, built_in, created_at
FROM context_fields
ORDER BY sort_order, name;

-- name: list_context_fields_with_uses
-- All fields or the one with this name, with the number of flags and projects that use it.
WITH uses AS (
    SELECT constraints.item->>'contextName' AS field, features.name AS feature, features.project
    FROM feature_strategies
    JOIN features ON features.name = feature_strategies.feature AND features.archived_at IS NULL
    CROSS JOIN LATERAL (
        SELECT jsonb_array_elements(feature_strategies.constraints)
        UNION ALL
        SELECT jsonb_array_elements(segments.constraints)
        FROM strategy_segments
        JOIN segments ON segments.id = strategy_segments.segment_id
        WHERE strategy_segments.strategy_id = feature_strategies.id
    ) AS constraints (item)
),
counts AS (
    SELECT field, count(DISTINCT feature) AS features, count(DISTINCT project) AS projects
    FROM uses
    GROUP BY field
)
SELECT context_fields.name, context_fields.description, context_fields.stickiness,
    context_fields.sort_order, context_fields.legal_values, context_fields.built_in,
    context_fields.created_at, coalesce(counts.features, 0) AS feature_count,
    coalesce(counts.projects, 0) AS project_count
FROM context_fields
LEFT JOIN counts ON counts.field = context_fields.name
WHERE %(name)s::text IS NULL OR context_fields.name = %(name)s
ORDER BY context_fields.sort_order, context_fields.name;

-- name: list_strategies_of_context_field
-- Strategies with a constraint on the field, directly or in a segment.
SELECT feature_strategies.id, features.project, features.name AS feature,
    feature_strategies.name AS strategy, feature_strategies.environment
FROM feature_strategies
JOIN features ON features.name = feature_strategies.feature AND features.archived_at IS NULL
WHERE feature_strategies.constraints
        @> jsonb_build_array(jsonb_build_object('contextName', %(name)s::text))
   OR EXISTS (
       SELECT FROM strategy_segments
       JOIN segments ON segments.id = strategy_segments.segment_id
       WHERE strategy_segments.strategy_id = feature_strategies.id
         AND segments.constraints
             @> jsonb_build_array(jsonb_build_object('contextName', %(name)s::text))
   )
ORDER BY features.name, feature_strategies.environment, feature_strategies.sort_order;

-- name: put_context_fields
INSERT INTO context_fields (name, description, stickiness, sort_order, legal_values)
SELECT name, description, stickiness, "sortOrder", "legalValues"
FROM jsonb_to_recordset(%(items)s::jsonb)
     AS x (name text, description text, stickiness boolean, "sortOrder" integer,
           "legalValues" jsonb)
ON CONFLICT (name) DO UPDATE
SET description = excluded.description, stickiness = excluded.stickiness,
    sort_order = excluded.sort_order, legal_values = excluded.legal_values;

-- name: delete_context_field
DELETE FROM context_fields WHERE name = %(name)s;

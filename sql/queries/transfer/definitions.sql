-- Flags and definitions in bulk, for export and import. Columns have the member names of snapshots.
-- Written under lock_revisions.

-- name: list_environments
SELECT name, type, sort_order AS "sortOrder", enabled, protected
FROM environments
ORDER BY sort_order, name;

-- name: list_projects
SELECT id, name, description, mode, default_stickiness AS "defaultStickiness"
FROM projects
ORDER BY id;

-- name: list_project_environments
SELECT p.project, p.environment, p.default_strategy
FROM project_environments p
JOIN environments e ON e.name = p.environment
ORDER BY p.project, e.sort_order, e.name;

-- name: list_context_fields
SELECT name, description, stickiness, sort_order AS "sortOrder", legal_values AS "legalValues"
FROM context_fields
ORDER BY sort_order, name;

-- name: list_strategy_types
SELECT name, title, description, parameters, deprecated, sort_order AS "sortOrder"
FROM strategy_types
ORDER BY sort_order, name;

-- name: list_tag_types
SELECT name, description, icon, color FROM tag_types ORDER BY name;

-- name: list_tags
SELECT type, value FROM tags ORDER BY type, value;

-- name: list_segments
SELECT id, name, description, project, constraints, created_at, created_by
FROM segments
ORDER BY name;

-- name: list_feature_locations
-- Project, archive state and parent of each flag, including archived flags.
SELECT f.name, f.project, f.archived_at IS NOT NULL AS archived, d.parent
FROM features f
LEFT JOIN feature_dependencies d ON d.child = f.name;

-- name: list_features
SELECT name, project, type, description, stale, impression_data, archived_at, created_at,
       created_by
FROM features
WHERE %(names)s::text[] IS NULL OR name = ANY(%(names)s)
ORDER BY name;

-- name: list_feature_names
-- The flags that are not archived, of a project or with a tag (type:value, or a value of any type).
SELECT f.name
FROM features f
WHERE f.archived_at IS NULL
  AND (%(project)s::text IS NULL OR f.project = %(project)s)
  AND (%(tag)s::text IS NULL OR EXISTS (
        SELECT 1 FROM feature_tags t
        WHERE t.feature = f.name AND %(tag)s IN (t.value, t.type || ':' || t.value)))
ORDER BY f.name;

-- name: list_states
SELECT s.feature, s.environment, s.enabled, s.variants
FROM feature_environments s
JOIN environments e ON e.name = s.environment
WHERE s.feature = ANY(%(names)s)
ORDER BY s.feature, e.sort_order, e.name;

-- name: list_used_strategy_ids
SELECT id FROM feature_strategies WHERE id = ANY(%(ids)s);

-- name: put_environments
INSERT INTO environments (name, type, sort_order, enabled, protected)
SELECT name, type, "sortOrder", enabled, protected
FROM jsonb_to_recordset(%(items)s::jsonb)
     AS x (name text, type text, "sortOrder" integer, enabled boolean, protected boolean)
ON CONFLICT (name) DO UPDATE
SET type = excluded.type, sort_order = excluded.sort_order, enabled = excluded.enabled,
    protected = excluded.protected;

-- name: put_projects
INSERT INTO projects (id, name, description, mode, default_stickiness)
SELECT id, name, description, mode, "defaultStickiness"
FROM jsonb_to_recordset(%(items)s::jsonb)
     AS x (id text, name text, description text, mode text, "defaultStickiness" text)
ON CONFLICT (id) DO UPDATE
SET name = excluded.name, description = excluded.description, mode = excluded.mode,
    default_stickiness = excluded.default_stickiness, updated_at = now();

-- name: put_project_environments
INSERT INTO project_environments (project, environment, default_strategy)
SELECT project, environment, CASE WHEN jsonb_typeof(strategy) = 'object' THEN strategy END
FROM jsonb_to_recordset(%(items)s::jsonb) AS x (project text, environment text, strategy jsonb)
ON CONFLICT (project, environment) DO UPDATE SET default_strategy = excluded.default_strategy;

-- name: delete_project_environments
DELETE FROM project_environments p
USING jsonb_to_recordset(%(items)s::jsonb) AS x (project text, environment text)
WHERE p.project = x.project AND p.environment = x.environment;

-- name: put_context_fields
INSERT INTO context_fields (name, description, stickiness, sort_order, legal_values)
SELECT name, description, stickiness, "sortOrder", "legalValues"
FROM jsonb_to_recordset(%(items)s::jsonb)
     AS x (name text, description text, stickiness boolean, "sortOrder" integer,
           "legalValues" jsonb)
ON CONFLICT (name) DO UPDATE
SET description = excluded.description, stickiness = excluded.stickiness,
    sort_order = excluded.sort_order, legal_values = excluded.legal_values;

-- name: put_strategy_types
INSERT INTO strategy_types (name, title, description, parameters, deprecated, sort_order)
SELECT name, title, description, parameters, deprecated, "sortOrder"
FROM jsonb_to_recordset(%(items)s::jsonb)
     AS x (name text, title text, description text, parameters jsonb, deprecated boolean,
           "sortOrder" integer)
ON CONFLICT (name) DO UPDATE
SET title = excluded.title, description = excluded.description,
    parameters = excluded.parameters, deprecated = excluded.deprecated,
    sort_order = excluded.sort_order;

-- name: put_tag_types
INSERT INTO tag_types (name, description, icon, color)
SELECT name, description, icon, color
FROM jsonb_to_recordset(%(items)s::jsonb)
     AS x (name text, description text, icon text, color text)
ON CONFLICT (name) DO UPDATE
SET description = excluded.description, icon = excluded.icon, color = excluded.color;

-- name: put_tags
INSERT INTO tags (type, value)
SELECT type, value FROM jsonb_to_recordset(%(items)s::jsonb) AS x (type text, value text)
ON CONFLICT DO NOTHING;

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

-- name: put_features
-- Project, creator and creation time of an existing flag don't change.
INSERT INTO features (name, project, type, description, stale, impression_data, archived_at,
                      created_at, created_by, created_by_user_id)
SELECT name, project, type, description, stale, "impressionData", "archivedAt",
       coalesce("createdAt", now()), coalesce("createdBy", %(created_by)s),
       CASE WHEN "createdBy" IS NULL THEN %(created_by_user_id)s::int END
FROM jsonb_to_recordset(%(items)s::jsonb)
     AS x (name text, project text, type text, description text, stale boolean,
           "impressionData" boolean, "archivedAt" timestamptz, "createdAt" timestamptz,
           "createdBy" text)
ON CONFLICT (name) DO UPDATE
SET type = excluded.type, description = excluded.description, stale = excluded.stale,
    impression_data = excluded.impression_data;

-- name: put_states
INSERT INTO feature_environments (feature, environment, enabled, variants)
SELECT feature, environment, enabled, variants
FROM jsonb_to_recordset(%(items)s::jsonb)
     AS x (feature text, environment text, enabled boolean, variants jsonb)
ON CONFLICT (feature, environment) DO UPDATE
SET enabled = excluded.enabled, variants = excluded.variants;

-- name: delete_strategies
DELETE FROM feature_strategies s
USING jsonb_to_recordset(%(items)s::jsonb) AS x (feature text, environment text)
WHERE s.feature = x.feature AND s.environment = x.environment;

-- name: insert_strategy_segments
INSERT INTO strategy_segments (strategy_id, segment_id)
SELECT x.strategy, g.id
FROM jsonb_to_recordset(%(items)s::jsonb) AS x (strategy text, segment text)
JOIN segments g ON g.name = x.segment;

-- name: put_feature_tags
WITH new_tags AS (
    SELECT feature, type, value
    FROM jsonb_to_recordset(%(items)s::jsonb) AS x (feature text, type text, value text)
), inserted_tags AS (
    INSERT INTO tags (type, value)
    SELECT DISTINCT type, value FROM new_tags
    ON CONFLICT DO NOTHING
)
INSERT INTO feature_tags (feature, type, value)
SELECT feature, type, value FROM new_tags
ON CONFLICT DO NOTHING;

-- name: analyze_flags
-- For the planner, which would otherwise wait for autovacuum. Skips tables that are locked, or that the
-- role doesn't own.
ANALYZE (SKIP_LOCKED) features, feature_environments, feature_strategies, strategy_segments, feature_tags,
        feature_dependencies, segments;

-- name: put_dependencies
INSERT INTO feature_dependencies (child, parent, enabled, variants)
SELECT child, parent, enabled, variants
FROM jsonb_to_recordset(%(items)s::jsonb)
     AS x (child text, parent text, enabled boolean, variants jsonb)
ON CONFLICT (child) DO UPDATE
SET parent = excluded.parent, enabled = excluded.enabled, variants = excluded.variants;

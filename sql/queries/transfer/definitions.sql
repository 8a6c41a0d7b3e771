-- Flags and definitions in bulk, for export and import. Columns have the member names of snapshots.
-- Written under lock_revisions.

-- name: list_project_environments
SELECT p.project, p.environment, p.default_strategy
FROM project_environments p
JOIN environments e ON e.name = p.environment
ORDER BY p.project, e.sort_order, e.name;

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
SELECT name, project, type, description, stale, impression_data,
       coalesce(permanent, type IN ('kill-switch', 'permission')) AS permanent, archived_at,
       created_at, created_by
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

-- name: put_project_environments
INSERT INTO project_environments (project, environment, default_strategy)
SELECT project, environment, CASE WHEN jsonb_typeof(strategy) = 'object' THEN strategy END
FROM jsonb_to_recordset(%(items)s::jsonb) AS x (project text, environment text, strategy jsonb)
ON CONFLICT (project, environment) DO UPDATE SET default_strategy = excluded.default_strategy;

-- name: delete_project_environments
DELETE FROM project_environments p
USING jsonb_to_recordset(%(items)s::jsonb) AS x (project text, environment text)
WHERE p.project = x.project AND p.environment = x.environment;

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
-- Collects statistics for the planner, which would otherwise wait for autovacuum. Skips tables that are
-- locked, or that the role doesn't own.
ANALYZE (SKIP_LOCKED) features, feature_environments, feature_strategies, strategy_segments, feature_tags,
        feature_dependencies, segments;

-- name: put_dependencies
INSERT INTO feature_dependencies (child, parent, enabled, variants)
SELECT child, parent, enabled, variants
FROM jsonb_to_recordset(%(items)s::jsonb)
     AS x (child text, parent text, enabled boolean, variants jsonb)
ON CONFLICT (child) DO UPDATE
SET parent = excluded.parent, enabled = excluded.enabled, variants = excluded.variants;

-- name: lift_timeouts
-- Until the end of the transaction.
SELECT set_config('statement_timeout', '0', true),
       set_config('idle_in_transaction_session_timeout', '0', true);

-- name: list_feature_holds
-- What holds the states of these flags, for each environment the strongest: a release that hasn't ended, or was
-- rolled back without a change since; an alert; a schedule that is due again.
SELECT DISTINCT ON (feature, environment) feature, environment, reason, since
FROM (
    SELECT r.feature, r.environment, 1 AS rank, 'release' AS reason, r.created_at AS since
    FROM releases r
    WHERE r.feature = ANY(%(names)s)
      AND (r.state IN ('scheduled', 'running', 'held')
           OR r.state = 'rolledBack'
              AND NOT EXISTS (SELECT FROM releases n
                              WHERE n.feature = r.feature AND n.environment = r.environment AND n.id > r.id)
              AND NOT EXISTS (
                  SELECT FROM events v
                  WHERE v.feature_name = r.feature AND v.environment = r.environment
                    AND v.type LIKE 'feature-%%' AND NOT coalesce(v.data ? 'cause', false)
                    AND v.id > (SELECT coalesce(max(b.id), 0) FROM events b
                                WHERE b.feature_name = r.feature AND b.type = 'release-rolled-back'
                                  AND b.data -> 'releaseId' = to_jsonb(r.id))))
    UNION ALL
    SELECT h.feature, h.environment, 2, 'alert', h.held_at
    FROM holds h
    LEFT JOIN feature_environments e ON e.feature = h.feature AND e.environment = h.environment
    WHERE h.feature = ANY(%(names)s)
      AND (h.change ->> 'what' <> 'state' OR h.change -> 'after' = to_jsonb(coalesce(e.enabled, false)))
    UNION ALL
    SELECT f.name, a.params ->> 'environment', 3, 'schedule', s.due_at
    FROM action_sets s
    JOIN actions a ON a.action_set_id = s.id
    JOIN features f ON f.project = s.project
     AND (f.name = a.params ->> 'featureName'
          OR EXISTS (SELECT FROM feature_tags t
                     WHERE t.feature = f.name AND t.type || ':' || t.value = a.params ->> 'tag'))
    WHERE s.endpoint_id = 0 AND s.enabled AND s.due_at IS NOT NULL AND f.name = ANY(%(names)s)
) AS held
ORDER BY feature, environment, rank, since;

-- name: delete_feature_tags
DELETE FROM feature_tags t
USING jsonb_to_recordset(%(items)s::jsonb) AS x (feature text, type text, value text)
WHERE t.feature = x.feature AND t.type = x.type AND t.value = x.value;

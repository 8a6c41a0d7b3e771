-- Stages of flags. Written by a job from the times at which SDKs last evaluated each flag, and by users
-- who complete a flag. Deleted with the flag, and when it is revived.

-- name: add_reached_stages
-- The stages that the flags with these names, or all flags, have reached. pre-live: an SDK has evaluated the
-- flag since it was created or revived. live: one did so in an environment for production where the flag is
-- enabled, after it was enabled. Only evaluations and events of the last hour decide that. They are grouped
-- rather than joined: without statistics the planner chooses a nested loop, which takes seconds for 5000
-- flags.
WITH candidates AS MATERIALIZED (
    SELECT l.feature, l.environment, l.seen_at, pre_live.stage IS NOT NULL AS is_pre_live
    FROM features f
    JOIN feature_last_seen l ON l.feature = f.name
    LEFT JOIN feature_stages initial ON initial.feature = f.name AND initial.stage = 'initial'
    LEFT JOIN feature_stages pre_live ON pre_live.feature = f.name AND pre_live.stage = 'pre-live'
    WHERE f.archived_at IS NULL
      AND (%(names)s::text[] IS NULL OR f.name = ANY(%(names)s))
      AND l.seen_at >= coalesce(initial.entered_at, f.created_at)
      AND NOT EXISTS (SELECT FROM feature_stages c
                      WHERE c.feature = f.name AND c.stage IN ('live', 'completed'))
), live AS (
    SELECT feature, max(seen_at) AS seen_at
    FROM (
        SELECT c.feature, c.environment, c.seen_at, NULL AS enabled_at
        FROM candidates c
        JOIN environments e ON e.name = c.environment AND e.type = 'production'
        JOIN feature_environments s ON s.feature = c.feature AND s.environment = c.environment
                                   AND s.enabled
        WHERE c.seen_at > now() - interval '1 hour'
        UNION ALL
        SELECT feature_name, environment, NULL, created_at
        FROM events
        WHERE type = 'feature-environment-enabled'
          AND created_at > now() - interval '1 hour'
          AND (%(names)s::text[] IS NULL OR feature_name = ANY(%(names)s))
    ) moments
    GROUP BY feature, environment
    HAVING max(seen_at) >= coalesce(max(enabled_at), '-infinity')
)
INSERT INTO feature_stages (feature, stage, entered_at)
SELECT feature, 'pre-live', min(seen_at)
FROM candidates
WHERE NOT is_pre_live
GROUP BY feature
UNION ALL
SELECT feature, 'live', min(seen_at)
FROM live
GROUP BY feature
ORDER BY 1, 2
ON CONFLICT (feature, stage) DO NOTHING;

-- name: list_stages
-- The stages of a flag of this project, in the order in which the flag entered them.
SELECT stage, entered_at, status
FROM (
    SELECT 'initial' AS stage, 1 AS position, coalesce(s.entered_at, f.created_at) AS entered_at,
           NULL AS status
    FROM features f
    LEFT JOIN feature_stages s ON s.feature = f.name AND s.stage = 'initial'
    WHERE f.name = %(name)s AND f.project = %(project)s
    UNION ALL
    SELECT s.stage, array_position(ARRAY['pre-live', 'live', 'completed'], s.stage) + 1,
           s.entered_at, s.status
    FROM features f
    JOIN feature_stages s ON s.feature = f.name AND s.stage <> 'initial'
    WHERE f.name = %(name)s AND f.project = %(project)s
    UNION ALL
    SELECT 'archived', 5, f.archived_at, NULL
    FROM features f
    WHERE f.name = %(name)s AND f.project = %(project)s AND f.archived_at IS NOT NULL
) stages
ORDER BY entered_at, position;

-- name: summarize_stages
-- For each stage, in one project or in all: the flags that are in it, and the average days of the flags that
-- have left it; `entered_last_30_days` counts archived flags only.
WITH entered AS (
    SELECT f.name, f.archived_at, 1 AS position, coalesce(s.entered_at, f.created_at) AS entered_at
    FROM features f
    LEFT JOIN feature_stages s ON s.feature = f.name AND s.stage = 'initial'
    WHERE %(project)s::text IS NULL OR f.project = %(project)s
    UNION ALL
    SELECT f.name, f.archived_at,
           array_position(ARRAY['pre-live', 'live', 'completed'], s.stage) + 1, s.entered_at
    FROM features f
    JOIN feature_stages s ON s.feature = f.name AND s.stage <> 'initial'
    WHERE %(project)s::text IS NULL OR f.project = %(project)s
), spans AS (
    SELECT position, entered_at,
           coalesce(lead(entered_at) OVER (PARTITION BY name ORDER BY position), archived_at)
           AS left_at
    FROM entered
)
SELECT (ARRAY['initial', 'pre-live', 'live', 'completed'])[position] AS stage,
       count(*) FILTER (WHERE left_at IS NULL) AS flags,
       (avg(extract(epoch FROM left_at - entered_at)) / 86400)::float8 AS average_days,
       NULL AS entered_last_30_days
FROM spans
GROUP BY position
UNION ALL
SELECT 'archived', count(*), NULL, count(*) FILTER (WHERE archived_at > now() - interval '30 days')
FROM features
WHERE archived_at IS NOT NULL
  AND (%(project)s::text IS NULL OR project = %(project)s);

-- name: complete_feature
INSERT INTO feature_stages (feature, stage, status, status_value)
VALUES (%(feature)s, 'completed', %(status)s, %(status_value)s)
ON CONFLICT (feature, stage) DO NOTHING;

-- name: uncomplete_feature
DELETE FROM feature_stages WHERE feature = %(feature)s AND stage = 'completed';

-- name: restart_lifecycle
WITH deleted AS (
    DELETE FROM feature_stages WHERE feature = ANY(%(features)s) AND stage <> 'initial'
)
INSERT INTO feature_stages (feature, stage)
SELECT feature, 'initial' FROM unnest(%(features)s::text[]) AS feature
ON CONFLICT (feature, stage) DO UPDATE SET entered_at = excluded.entered_at;

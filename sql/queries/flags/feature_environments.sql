-- The state of flags in environments. A flag without a row is disabled.

-- name: list_feature_states
-- One row for each flag and each environment of its project. The conditions on `features` of the
-- joined tables let their indexes be used instead of scans.
SELECT f.name AS feature, e.name AS environment, e.type, e.sort_order, e.enabled AS is_visible,
       coalesce(s.enabled, false) AS enabled, coalesce(s.variants, '[]') AS variants,
       l.seen_at AS last_seen_at, coalesce(c.strategies, 0) AS strategies,
       coalesce(c.active, 0) AS active_strategies
FROM features f
JOIN project_environments p ON p.project = f.project
JOIN environments e ON e.name = p.environment
LEFT JOIN feature_environments s ON s.feature = f.name AND s.environment = e.name
                                AND s.feature = ANY(%(features)s)
LEFT JOIN feature_last_seen l ON l.feature = f.name AND l.environment = e.name
                             AND l.seen_at >= f.created_at
                             AND l.feature = ANY(%(features)s)
LEFT JOIN (SELECT feature, environment, count(*) AS strategies,
                  count(*) FILTER (WHERE NOT disabled) AS active
           FROM feature_strategies
           WHERE feature = ANY(%(features)s)
           GROUP BY feature, environment) c ON c.feature = f.name AND c.environment = e.name
WHERE f.name = ANY(%(features)s)
ORDER BY f.name, e.sort_order, e.name;

-- name: list_target_states
-- One row for each pair of a flag and an environment, but none if the environment isn't linked to the
-- flag's project. The row can change only with the generation. A flag begins when it is created, and when it
-- is revived.
SELECT f.name AS feature, p.environment, coalesce(s.enabled, false) AS enabled,
       coalesce(s.variants, '[]') AS variants, p.default_strategy, f.project, f.archived_at,
       coalesce((SELECT entered_at FROM feature_stages i WHERE i.feature = f.name AND i.stage = 'initial'),
                f.created_at) AS began_at,
       EXISTS (SELECT FROM feature_strategies a
               WHERE a.feature = f.name AND a.environment = p.environment AND NOT a.disabled)
       AS is_active,
       (SELECT id FROM revisions WHERE topic = '') AS generation
FROM unnest(%(features)s::text[], %(environments)s::text[]) AS t (feature, environment)
JOIN features f ON f.name = t.feature
JOIN project_environments p ON p.project = f.project AND p.environment = t.environment
LEFT JOIN feature_environments s ON s.feature = f.name AND s.environment = p.environment;

-- name: set_feature_states
-- Also bumps revisions, because actions wait for each round trip. Nobody keeps off what is
-- turned on.
WITH {{revisions.bump}}, released AS (
    DELETE FROM holds
    WHERE feature = ANY(%(features)s) AND kept_at IS NOT NULL
      AND (feature, environment) IN (
          SELECT s.feature, s.environment
          FROM unnest(%(features)s::text[], %(places)s::text[], %(states)s::boolean[])
               AS s (feature, environment, enabled)
          WHERE s.enabled
      )
)
INSERT INTO feature_environments (feature, environment, enabled)
SELECT feature, environment, enabled
FROM unnest(%(features)s::text[], %(places)s::text[], %(states)s::boolean[])
     AS s (feature, environment, enabled)
ON CONFLICT (feature, environment) DO UPDATE SET enabled = excluded.enabled;

-- name: set_feature_variants
INSERT INTO feature_environments (feature, environment, variants)
SELECT %(feature)s, environment, %(variants)s::jsonb
FROM unnest(%(environments)s::text[]) AS environment
ON CONFLICT (feature, environment) DO UPDATE SET variants = excluded.variants;

-- name: copy_feature_states
-- A clone is disabled in every environment; copy_strategies copies its strategies.
INSERT INTO feature_environments (feature, environment, enabled, variants)
SELECT %(target)s, environment, false, variants FROM feature_environments WHERE feature = %(source)s;

-- How often flags were evaluated as enabled and disabled, summed by hour. Written by SDKs and relays;
-- deleted by the retention job in chunks. Rows are written in the order of their key to avoid deadlocks.
-- Parameters are one JSON text, because the driver formats long arrays so slowly that it would block
-- all threads.

-- name: add_client_metrics
-- Looks up flags and environments here rather than in a cache, so that new flags count at once.
INSERT INTO client_metrics (feature, app_name, environment, hour, yes, no)
SELECT m.feature, m.app_name, m.environment, m.hour, sum(m.yes), sum(m.no)
FROM json_to_recordset(%(usages)s)
     AS m (feature text, app_name text, environment text, hour timestamptz, yes bigint, no bigint)
JOIN features f ON f.name = m.feature
JOIN environments e ON e.name = m.environment
GROUP BY m.feature, m.app_name, m.environment, m.hour
ORDER BY m.feature, m.app_name, m.environment, m.hour
ON CONFLICT (feature, app_name, environment, hour)
DO UPDATE SET yes = client_metrics.yes + EXCLUDED.yes, no = client_metrics.no + EXCLUDED.no
RETURNING feature, environment;

-- name: add_client_metrics_variants
-- Stores only variants that the flag has in the environment or on a strategy there, and `disabled`,
-- which SDKs count for a flag without variants. Returns how many variants of known flags were dropped.
WITH reported AS (
    SELECT m.feature, m.app_name, m.environment, m.hour, v.key AS variant,
           sum(v.value::bigint)::bigint AS count
    FROM json_to_recordset(%(usages)s)
         AS m (feature text, app_name text, environment text, hour timestamptz, variants json)
    JOIN features f ON f.name = m.feature
    JOIN environments e ON e.name = m.environment
    CROSS JOIN LATERAL json_each_text(m.variants) AS v (key, value)
    GROUP BY m.feature, m.app_name, m.environment, m.hour, v.key
), pairs AS (
    SELECT DISTINCT feature, environment FROM reported
), known AS (
    SELECT p.feature, p.environment, v.variant ->> 'name' AS variant
    FROM pairs p
    JOIN feature_environments s ON s.feature = p.feature AND s.environment = p.environment
    CROSS JOIN LATERAL jsonb_array_elements(s.variants) AS v (variant)
    UNION
    SELECT p.feature, p.environment, v.variant ->> 'name'
    FROM pairs p
    JOIN feature_strategies s ON s.feature = p.feature AND s.environment = p.environment
    CROSS JOIN LATERAL jsonb_array_elements(s.variants) AS v (variant)
), stored AS (
    INSERT INTO client_metrics_variants (feature, app_name, environment, hour, variant, count)
    SELECT r.feature, r.app_name, r.environment, r.hour, r.variant, r.count
    FROM reported r
    WHERE r.variant = 'disabled'
       OR (r.feature, r.environment, r.variant) IN (SELECT feature, environment, variant FROM known)
    ORDER BY r.feature, r.app_name, r.environment, r.hour, r.variant
    ON CONFLICT (feature, app_name, environment, hour, variant)
    DO UPDATE SET count = client_metrics_variants.count + EXCLUDED.count
    RETURNING 1
)
SELECT (SELECT count(*) FROM reported) - (SELECT count(*) FROM stored) AS dropped;

-- name: list_client_metrics
-- The last `hours` hours of a flag by application, the current hour included.
SELECT m.app_name, m.environment, m.hour, m.yes, m.no,
       (SELECT jsonb_object_agg(v.variant, v.count)
        FROM client_metrics_variants v
        WHERE v.feature = m.feature
          AND v.app_name = m.app_name
          AND v.environment = m.environment
          AND v.hour = m.hour) AS variants
FROM client_metrics m
WHERE m.feature = %(feature)s
  AND m.hour > now() - make_interval(hours => %(hours)s)
ORDER BY m.hour, m.environment, m.app_name;

-- name: list_client_metrics_hours
-- The same, summed over applications.
SELECT environment, hour, sum(yes)::bigint AS yes, sum(no)::bigint AS no
FROM client_metrics
WHERE feature = %(feature)s
  AND hour > now() - make_interval(hours => %(hours)s)
GROUP BY environment, hour
ORDER BY hour, environment;

-- name: list_client_metrics_apps
SELECT DISTINCT app_name
FROM client_metrics
WHERE feature = %(feature)s
ORDER BY app_name;

-- name: list_client_metrics_features
-- What applications report, by flag and environment: one index lookup for each flag.
SELECT m.app_name, f.name AS feature, f.project, m.environment,
       sum(m.yes)::bigint AS yes, sum(m.no)::bigint AS no
FROM features f
JOIN client_metrics m ON m.feature = f.name
WHERE m.app_name = ANY(%(app_names)s)
GROUP BY m.app_name, f.name, f.project, m.environment
ORDER BY m.app_name, f.name, m.environment;

-- name: delete_old_client_metrics
DELETE FROM client_metrics
WHERE ctid = ANY(ARRAY(
    SELECT ctid
    FROM client_metrics
    WHERE hour < now() - make_interval(hours => %(hours)s)
    ORDER BY hour
    LIMIT %(chunk)s
    FOR UPDATE SKIP LOCKED
));

-- name: delete_old_client_metrics_variants
DELETE FROM client_metrics_variants
WHERE ctid = ANY(ARRAY(
    SELECT ctid
    FROM client_metrics_variants
    WHERE hour < now() - make_interval(hours => %(hours)s)
    ORDER BY hour
    LIMIT %(chunk)s
    FOR UPDATE SKIP LOCKED
));

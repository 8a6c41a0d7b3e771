-- How often flags were on and off, summed by hour. Written by SDKs and relays; deleted by the
-- retention job in chunks. Rows are written in the order of their key, so that no two senders can
-- wait for each other.

-- name: add_client_metrics
-- Flags and environments are looked up here and not in a cache: a flag made a moment ago counts.
INSERT INTO client_metrics (feature, app_name, environment, hour, yes, no)
SELECT m.feature, m.app_name, m.environment, m.hour, sum(m.yes), sum(m.no)
FROM unnest(%(features)s::text[], %(app_names)s::text[], %(environments)s::text[],
            %(hours)s::timestamptz[], %(yes)s::bigint[], %(no)s::bigint[])
     AS m (feature, app_name, environment, hour, yes, no)
JOIN features f ON f.name = m.feature
JOIN environments e ON e.name = m.environment
GROUP BY m.feature, m.app_name, m.environment, m.hour
ORDER BY m.feature, m.app_name, m.environment, m.hour
ON CONFLICT (feature, app_name, environment, hour)
DO UPDATE SET yes = client_metrics.yes + EXCLUDED.yes, no = client_metrics.no + EXCLUDED.no;

-- name: add_client_metrics_variants
INSERT INTO client_metrics_variants (feature, app_name, environment, hour, variant, count)
SELECT m.feature, m.app_name, m.environment, m.hour, m.variant, sum(m.count)
FROM unnest(%(features)s::text[], %(app_names)s::text[], %(environments)s::text[],
            %(hours)s::timestamptz[], %(variants)s::text[], %(counts)s::bigint[])
     AS m (feature, app_name, environment, hour, variant, count)
JOIN features f ON f.name = m.feature
JOIN environments e ON e.name = m.environment
GROUP BY m.feature, m.app_name, m.environment, m.hour, m.variant
ORDER BY m.feature, m.app_name, m.environment, m.hour, m.variant
ON CONFLICT (feature, app_name, environment, hour, variant)
DO UPDATE SET count = client_metrics_variants.count + EXCLUDED.count;

-- name: mark_features_seen
-- To the minute, and past rows that somebody is changing: who edits a flag and who reports it
-- never wait for each other.
UPDATE features
SET last_seen_at = now()
WHERE name IN (
    SELECT name
    FROM features
    WHERE name = ANY(%(features)s)
      AND (last_seen_at IS NULL OR last_seen_at < now() - interval '1 minute')
    FOR NO KEY UPDATE SKIP LOCKED
);

-- name: mark_feature_environments_seen
-- The same for pairs of flag and environment; one that has no state yet gets its row, off.
WITH reported AS (
    SELECT DISTINCT f.name AS feature, e.name AS environment
    FROM unnest(%(features)s::text[], %(environments)s::text[]) AS m (feature, environment)
    JOIN features f ON f.name = m.feature
    JOIN environments e ON e.name = m.environment
), made AS (
    INSERT INTO feature_environments (feature, environment, last_seen_at)
    SELECT r.feature, r.environment, now()
    FROM reported r
    WHERE NOT EXISTS (SELECT 1 FROM feature_environments fe
                      WHERE fe.feature = r.feature AND fe.environment = r.environment)
    ORDER BY r.feature, r.environment
    ON CONFLICT DO NOTHING
)
UPDATE feature_environments
SET last_seen_at = now()
WHERE (feature, environment) IN (
    SELECT fe.feature, fe.environment
    FROM feature_environments fe
    JOIN reported r ON r.feature = fe.feature AND r.environment = fe.environment
    WHERE fe.last_seen_at IS NULL OR fe.last_seen_at < now() - interval '1 minute'
    FOR NO KEY UPDATE OF fe SKIP LOCKED
);

-- name: list_client_metrics
-- One flag's newest `hours` hours, the running one included, by application.
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
-- What applications report, by flag and environment. One index look-up for each flag.
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

-- Applications and their running instances. Written with reports (reports.sql); deleted by the retention
-- job, applications also by users.

-- name: list_client_applications
SELECT a.app_name, a.description, a.strategies, a.created_at, a.seen_at,
       i.instances, i.environments, i.sdk_versions
FROM client_applications a
CROSS JOIN LATERAL (
    SELECT count(*) AS instances,
           ARRAY(SELECT o.environment
                 FROM client_instances o
                 LEFT JOIN environments e ON e.name = o.environment
                 WHERE o.app_name = a.app_name
                 GROUP BY o.environment, e.sort_order
                 ORDER BY e.sort_order, o.environment) AS environments,
           COALESCE(array_agg(DISTINCT sdk_version ORDER BY sdk_version)
                    FILTER (WHERE sdk_version IS NOT NULL), '{}') AS sdk_versions
    FROM client_instances
    WHERE app_name = a.app_name
) i
WHERE %(pattern)s::text IS NULL OR a.app_name ILIKE %(pattern)s
ORDER BY a.app_name
LIMIT %(limit)s OFFSET %(offset)s;

-- name: count_client_applications
SELECT count(*)
FROM client_applications
WHERE %(pattern)s::text IS NULL OR app_name ILIKE %(pattern)s;

-- name: find_client_application
-- `missing_strategies` are the strategies that the application reports and this service doesn't have.
SELECT a.app_name, a.description, a.strategies, a.created_at, a.seen_at,
       ARRAY(SELECT s.name
             FROM jsonb_array_elements_text(a.strategies) AS s (name)
             LEFT JOIN strategy_types t ON t.name = s.name
             WHERE t.name IS NULL
             ORDER BY s.name) AS missing_strategies
FROM client_applications a
WHERE a.app_name = %(app_name)s;

-- name: list_client_instances
-- The last seen first.
SELECT instance_id, environment, sdk_version, sdk_type, client_ip, created_at, last_seen
FROM client_instances
WHERE app_name = %(app_name)s
  AND (%(environment)s::text IS NULL OR environment = %(environment)s)
ORDER BY last_seen DESC, instance_id, environment
LIMIT %(limit)s;

-- name: summarize_client_instances
SELECT environment, count(*) AS instances, max(last_seen) AS last_seen,
       COALESCE(array_agg(DISTINCT sdk_version ORDER BY sdk_version)
                FILTER (WHERE sdk_version IS NOT NULL AND sdk_type = 'frontend'), '{}')
           AS frontend_sdks,
       COALESCE(array_agg(DISTINCT sdk_version ORDER BY sdk_version)
                FILTER (WHERE sdk_version IS NOT NULL AND sdk_type IS DISTINCT FROM 'frontend'),
                '{}') AS backend_sdks
FROM client_instances
LEFT JOIN environments ON environments.name = environment
WHERE app_name = %(app_name)s
GROUP BY environment, sort_order
ORDER BY sort_order, environment;

-- name: delete_client_application
WITH instances AS (DELETE FROM client_instances WHERE app_name = %(app_name)s),
accepted AS (DELETE FROM client_application_environments WHERE app_name = %(app_name)s),
series AS (DELETE FROM impact_series WHERE app_name = %(app_name)s),
groups AS (DELETE FROM impact_groups WHERE app_name = %(app_name)s)
DELETE FROM client_applications WHERE app_name = %(app_name)s;

-- name: delete_old_client_instances
DELETE FROM client_instances
WHERE ctid = ANY(ARRAY(
    SELECT ctid
    FROM client_instances
    WHERE last_seen < now() - make_interval(days => %(days)s)
    ORDER BY last_seen
    LIMIT %(chunk)s
    FOR UPDATE SKIP LOCKED
));

-- name: delete_old_client_applications
-- Applications that sent no reports and have no instances.
DELETE FROM client_applications
WHERE ctid = ANY(ARRAY(
    SELECT a.ctid
    FROM client_applications a
    WHERE a.seen_at < now() - make_interval(days => %(days)s)
      AND NOT EXISTS (SELECT 1 FROM client_instances i WHERE i.app_name = a.app_name)
    LIMIT %(chunk)s
));

-- name: delete_old_client_application_environments
DELETE FROM client_application_environments
WHERE ctid = ANY(ARRAY(
    SELECT ctid
    FROM client_application_environments
    WHERE seen_at < now() - make_interval(days => %(days)s)
    LIMIT %(chunk)s
    FOR UPDATE SKIP LOCKED
));

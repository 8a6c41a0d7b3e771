-- Applications and their running instances. Written by SDKs and relays; deleted by the retention job,
-- applications also by users. New rows are checked against the limits without a lock, so concurrent
-- requests can exceed a limit by their own rows once.

-- name: accept_client_applications
-- Returns the accepted names: those known in their environment, and new ones up to the limit. Renews
-- `seen_at` of known names every hour, so that the retention job keeps them.
WITH reported AS (
    SELECT DISTINCT n.environment, n.app_name
    FROM unnest(%(environments)s::text[], %(app_names)s::text[]) AS n (environment, app_name)
    JOIN environments e ON e.name = n.environment
), known AS (
    SELECT a.environment, a.app_name, a.seen_at
    FROM reported r
    JOIN client_application_environments a
        ON a.environment = r.environment AND a.sdk_type = %(sdk_type)s AND a.app_name = r.app_name
), new AS (
    SELECT r.environment, r.app_name,
           row_number() OVER (PARTITION BY r.environment ORDER BY r.app_name) AS position
    FROM reported r
    WHERE (r.environment, r.app_name) NOT IN (SELECT environment, app_name FROM known)
), counted AS (
    SELECT a.environment, count(*) AS applications
    FROM client_application_environments a
    WHERE a.environment IN (SELECT environment FROM new) AND a.sdk_type = %(sdk_type)s
    GROUP BY a.environment
), written AS (
    INSERT INTO client_application_environments (environment, sdk_type, app_name)
    SELECT environment, %(sdk_type)s, app_name
    FROM (SELECT n.environment, n.app_name
          FROM new n
          LEFT JOIN counted c ON c.environment = n.environment
          WHERE n.position <= %(limit)s - COALESCE(c.applications, 0)
          UNION ALL
          SELECT environment, app_name FROM known WHERE seen_at < now() - interval '1 hour') w
    ORDER BY environment, app_name
    ON CONFLICT (environment, sdk_type, app_name) DO UPDATE SET seen_at = now()
    RETURNING environment, app_name
)
SELECT environment, app_name FROM written
UNION
SELECT environment, app_name FROM known;

-- name: upsert_client_applications
-- Updates `seen_at` once a minute, so that instances of one application rarely wait for each other.
-- A report without strategies keeps the existing ones.
INSERT INTO client_applications (app_name, strategies)
SELECT DISTINCT ON (n.app_name) n.app_name, COALESCE(n.strategies, '[]')::jsonb
FROM unnest(%(app_names)s::text[], %(environments)s::text[], %(strategies)s::text[])
     AS n (app_name, environment, strategies)
JOIN environments e ON e.name = n.environment
LEFT JOIN client_applications a ON a.app_name = n.app_name
WHERE a.app_name IS NULL
   OR a.seen_at < now() - interval '1 minute'
   OR a.strategies <> n.strategies::jsonb
ORDER BY n.app_name, n.strategies
ON CONFLICT (app_name) DO UPDATE
SET seen_at = now(),
    strategies = CASE EXCLUDED.strategies
                     WHEN '[]' THEN client_applications.strategies
                     ELSE EXCLUDED.strategies
                 END;

-- name: upsert_client_instances
-- Inserts new instances up to the limit of their environment and SDK type; returns how many were
-- dropped.
WITH reported AS (
    SELECT DISTINCT ON (n.app_name, n.instance_id, n.environment)
           n.app_name, n.instance_id, n.environment, n.sdk_version, n.sdk_type,
           n.sdk_type IS NOT DISTINCT FROM 'frontend' AS is_frontend, i.app_name IS NULL AS is_new
    FROM unnest(%(app_names)s::text[], %(instance_ids)s::text[], %(environments)s::text[],
                %(sdk_versions)s::text[], %(sdk_types)s::text[])
         AS n (app_name, instance_id, environment, sdk_version, sdk_type)
    JOIN environments e ON e.name = n.environment
    LEFT JOIN client_instances i ON i.app_name = n.app_name AND i.instance_id = n.instance_id
                                AND i.environment = n.environment
    ORDER BY n.app_name, n.instance_id, n.environment, n.sdk_version
), counted AS (
    SELECT g.environment, g.is_frontend,
           (SELECT count(*) FROM client_instances i
            WHERE i.environment = g.environment
              AND (i.sdk_type IS NOT DISTINCT FROM 'frontend') = g.is_frontend) AS instances
    FROM (SELECT DISTINCT environment, is_frontend FROM reported WHERE is_new) g
), accepted AS (
    SELECT r.app_name, r.instance_id, r.environment, r.sdk_version, r.sdk_type
    FROM (SELECT app_name, instance_id, environment, sdk_version, sdk_type, is_frontend, is_new,
                 row_number() OVER (PARTITION BY environment, is_frontend, is_new
                                    ORDER BY app_name, instance_id) AS position
          FROM reported) r
    LEFT JOIN counted c ON c.environment = r.environment AND c.is_frontend = r.is_frontend
    WHERE NOT r.is_new OR r.position <= %(limit)s - c.instances
), written AS (
    INSERT INTO client_instances
        (app_name, instance_id, environment, sdk_version, sdk_type, client_ip)
    SELECT app_name, instance_id, environment, sdk_version, sdk_type, %(client_ip)s
    FROM accepted
    ORDER BY app_name, instance_id, environment
    ON CONFLICT (app_name, instance_id, environment) DO UPDATE
    SET last_seen = now(),
        client_ip = EXCLUDED.client_ip,
        sdk_version = COALESCE(EXCLUDED.sdk_version, client_instances.sdk_version),
        sdk_type = COALESCE(EXCLUDED.sdk_type, client_instances.sdk_type)
    RETURNING 1
)
SELECT (SELECT count(*) FROM reported) - (SELECT count(*) FROM written) AS dropped;

-- name: list_client_applications
SELECT a.app_name, a.description, a.strategies, a.created_at, a.seen_at,
       i.instances, i.environments, i.sdk_versions
FROM client_applications a
CROSS JOIN LATERAL (
    SELECT count(*) AS instances,
           COALESCE(array_agg(DISTINCT environment ORDER BY environment), '{}') AS environments,
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
-- `missing_strategies` are those that the application reports and this service doesn't have.
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
WHERE app_name = %(app_name)s
GROUP BY environment
ORDER BY environment;

-- name: delete_client_application
WITH instances AS (DELETE FROM client_instances WHERE app_name = %(app_name)s),
accepted AS (DELETE FROM client_application_environments WHERE app_name = %(app_name)s)
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

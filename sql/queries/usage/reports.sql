-- Reports of SDKs and relays: the statement that stores what they have in common. Rows of each table are
-- written in the order of their keys, and the tables in one order (each INSERT reads the result of the
-- last one), so that processes that store reports at the same time don't deadlock.

-- name: store_reports
-- Stores what the limits allow, and returns the rest as JSON lists. The parameters are JSON texts, because
-- the driver formats long arrays so slowly that it would block all threads.
--
-- `names` are the reported applications: those known in their environment and SDK type are accepted, and
-- new ones up to the limit. Their `seen_at` is renewed every hour, so that the retention job keeps them.
-- `instances` are accepted up to the limit of their environment and SDK type. New rows are checked against
-- the limits without a lock, so processes can exceed a limit by their own rows once. The last of the
-- instances of an application decides about its strategies; a report without them keeps the existing ones.
-- Applications and flags are updated once a minute.
-- `usages` and `variants` are sums by flag, application, environment and hour. Flags are looked up here
-- rather than in a cache, so that new ones count at once. Variants are stored that the flag has in the
-- environment or on a strategy there, and `disabled`, which SDKs count for a flag without variants.
WITH reported_names AS MATERIALIZED (
    SELECT n.environment, n.sdk_type, n.app_name, a.seen_at
    FROM json_to_recordset(%(names)s) AS n (environment text, sdk_type text, app_name text)
    JOIN environments e ON e.name = n.environment
    LEFT JOIN client_application_environments a
        ON a.environment = n.environment AND a.sdk_type = n.sdk_type AND a.app_name = n.app_name
), new_names AS (
    SELECT environment, sdk_type, app_name,
           row_number() OVER (PARTITION BY environment, sdk_type ORDER BY app_name) AS position
    FROM reported_names
    WHERE seen_at IS NULL
), known_names AS (
    SELECT a.environment, a.sdk_type, count(*) AS names
    FROM client_application_environments a
    WHERE (a.environment, a.sdk_type) IN (SELECT environment, sdk_type FROM new_names)
    GROUP BY a.environment, a.sdk_type
), written_names AS (
    INSERT INTO client_application_environments (environment, sdk_type, app_name)
    SELECT environment, sdk_type, app_name
    FROM (SELECT n.environment, n.sdk_type, n.app_name
          FROM new_names n
          LEFT JOIN known_names k ON k.environment = n.environment AND k.sdk_type = n.sdk_type
          WHERE n.position <= CASE n.sdk_type WHEN 'frontend' THEN %(frontend_limit)s::integer
                                               ELSE %(backend_limit)s END
                              - COALESCE(k.names, 0)
          UNION ALL
          SELECT environment, sdk_type, app_name
          FROM reported_names
          WHERE seen_at < now() - interval '1 hour') w
    ORDER BY environment, sdk_type, app_name
    ON CONFLICT (environment, sdk_type, app_name) DO UPDATE SET seen_at = now()
    RETURNING environment, sdk_type, app_name
), accepted_names AS MATERIALIZED (
    SELECT environment, sdk_type, app_name FROM written_names
    UNION
    SELECT environment, sdk_type, app_name FROM reported_names WHERE seen_at IS NOT NULL
), reported_instances AS MATERIALIZED (
    SELECT DISTINCT ON (n.app_name, n.instance_id, n.environment)
           n.app_name, n.instance_id, n.environment, n.sdk_version, n.sdk_type, n.client_ip,
           n.strategies, n.position, i.app_name IS NULL AS is_new,
           n.sdk_type IS NOT DISTINCT FROM 'frontend' AS is_frontend
    FROM json_to_recordset(%(instances)s)
         AS n (position integer, app_name text, instance_id text, environment text, token_type text,
               sdk_version text, sdk_type text, client_ip text, strategies jsonb)
    JOIN accepted_names a ON a.environment = n.environment AND a.sdk_type = n.token_type
                         AND a.app_name = n.app_name
    LEFT JOIN client_instances i ON i.app_name = n.app_name AND i.instance_id = n.instance_id
                                AND i.environment = n.environment
    ORDER BY n.app_name, n.instance_id, n.environment, n.position DESC
), written_applications AS (
    INSERT INTO client_applications (app_name, strategies)
    SELECT DISTINCT ON (n.app_name) n.app_name, COALESCE(n.strategies, '[]')
    FROM reported_instances n
    LEFT JOIN client_applications a ON a.app_name = n.app_name
    WHERE a.app_name IS NULL
       OR a.seen_at < now() - interval '1 minute'
       OR a.strategies <> n.strategies
    ORDER BY n.app_name, n.strategies IS NULL, n.position DESC
    ON CONFLICT (app_name) DO UPDATE
    SET seen_at = now(),
        strategies = CASE EXCLUDED.strategies
                         WHEN '[]' THEN client_applications.strategies
                         ELSE EXCLUDED.strategies
                     END
    RETURNING app_name
), known_instances AS MATERIALIZED (
    SELECT g.environment, g.is_frontend,
           (SELECT count(*) FROM client_instances i
            WHERE i.environment = g.environment
              AND (i.sdk_type IS NOT DISTINCT FROM 'frontend') = g.is_frontend) AS instances
    FROM (SELECT DISTINCT environment, is_frontend FROM reported_instances WHERE is_new) g
), written_instances AS (
    INSERT INTO client_instances
        (app_name, instance_id, environment, sdk_version, sdk_type, client_ip)
    SELECT n.app_name, n.instance_id, n.environment, n.sdk_version, n.sdk_type, n.client_ip
    FROM (SELECT app_name, instance_id, environment, sdk_version, sdk_type, client_ip, is_frontend,
                 is_new, row_number() OVER (PARTITION BY environment, is_frontend, is_new
                                            ORDER BY app_name, instance_id) AS position
          FROM reported_instances) n
    LEFT JOIN known_instances k ON k.environment = n.environment
                               AND k.is_frontend = n.is_frontend
    WHERE (NOT n.is_new OR n.position <= %(instance_limit)s - k.instances)
      AND (SELECT count(*) FROM written_applications) >= 0
    ORDER BY n.app_name, n.instance_id, n.environment
    ON CONFLICT (app_name, instance_id, environment) DO UPDATE
    SET last_seen = now(),
        client_ip = EXCLUDED.client_ip,
        sdk_version = COALESCE(EXCLUDED.sdk_version, client_instances.sdk_version),
        sdk_type = COALESCE(EXCLUDED.sdk_type, client_instances.sdk_type)
    RETURNING app_name, instance_id, environment
), reported_usages AS MATERIALIZED (
    SELECT n.feature, n.app_name, n.environment, n.hour, n.yes, n.no, f.name IS NOT NULL AS exists
    FROM json_to_recordset(%(usages)s)
         AS n (feature text, app_name text, environment text, token_type text, hour timestamptz,
               yes bigint, no bigint)
    JOIN accepted_names a ON a.environment = n.environment AND a.sdk_type = n.token_type
                         AND a.app_name = n.app_name
    LEFT JOIN features f ON f.name = n.feature
), written_usages AS (
    INSERT INTO client_metrics (feature, app_name, environment, hour, yes, no)
    SELECT feature, app_name, environment, hour, sum(yes), sum(no)
    FROM reported_usages
    WHERE exists
      AND (SELECT count(*) FROM written_instances) >= 0
    GROUP BY feature, app_name, environment, hour
    ORDER BY feature, app_name, environment, hour
    ON CONFLICT (feature, app_name, environment, hour)
    DO UPDATE SET yes = client_metrics.yes + EXCLUDED.yes, no = client_metrics.no + EXCLUDED.no
    RETURNING feature, environment
), reported_variants AS MATERIALIZED (
    SELECT n.feature, n.app_name, n.environment, n.hour, n.variant, sum(n.count)::bigint AS count
    FROM json_to_recordset(%(variants)s)
         AS n (feature text, app_name text, environment text, token_type text, hour timestamptz,
               variant text, count bigint)
    JOIN accepted_names a ON a.environment = n.environment AND a.sdk_type = n.token_type
                         AND a.app_name = n.app_name
    JOIN features f ON f.name = n.feature
    GROUP BY n.feature, n.app_name, n.environment, n.hour, n.variant
), known_variants AS MATERIALIZED (
    SELECT p.feature, p.environment, v.variant ->> 'name' AS variant
    FROM (SELECT DISTINCT feature, environment FROM reported_variants) p
    CROSS JOIN LATERAL (
        SELECT variants FROM feature_environments
        WHERE feature = p.feature AND environment = p.environment
        UNION ALL
        SELECT variants FROM feature_strategies
        WHERE feature = p.feature AND environment = p.environment
    ) s
    CROSS JOIN LATERAL jsonb_array_elements(s.variants) AS v (variant)
), written_variants AS (
    INSERT INTO client_metrics_variants (feature, app_name, environment, hour, variant, count)
    SELECT n.feature, n.app_name, n.environment, n.hour, n.variant, n.count
    FROM reported_variants n
    WHERE (n.variant = 'disabled'
           OR (n.feature, n.environment, n.variant)
              IN (SELECT feature, environment, variant FROM known_variants))
      AND (SELECT count(*) FROM written_usages) >= 0
    ORDER BY n.feature, n.app_name, n.environment, n.hour, n.variant
    ON CONFLICT (feature, app_name, environment, hour, variant)
    DO UPDATE SET count = client_metrics_variants.count + EXCLUDED.count
    RETURNING feature, environment, variant
), written_times AS (
    INSERT INTO feature_last_seen (feature, environment, seen_at)
    SELECT DISTINCT w.feature, w.environment, now()
    FROM written_usages w
    LEFT JOIN feature_last_seen s ON s.feature = w.feature AND s.environment = w.environment
    WHERE (s.seen_at IS NULL OR s.seen_at < now() - interval '1 minute')
      AND (SELECT count(*) FROM written_variants) >= 0
    ORDER BY w.feature, w.environment
    ON CONFLICT (feature, environment) DO UPDATE SET seen_at = EXCLUDED.seen_at
    RETURNING 1
)
SELECT (SELECT json_agg(json_build_array(environment, sdk_type, app_name))
        FROM accepted_names) AS names,
       (SELECT json_agg(json_build_array(app_name, instance_id, environment))
        FROM (SELECT app_name, instance_id, environment FROM reported_instances
              EXCEPT
              SELECT app_name, instance_id, environment FROM written_instances) d)
           AS dropped_instances,
       (SELECT json_agg(DISTINCT feature) FROM reported_usages WHERE NOT exists) AS unknown_flags,
       (SELECT json_agg(json_build_array(feature, environment, variant))
        FROM (SELECT feature, environment, variant FROM reported_variants
              EXCEPT
              SELECT feature, environment, variant FROM written_variants) d) AS dropped_variants;

-- The common parts of reports of SDKs and relays. Each statement writes its rows in the order of their keys,
-- in a transaction of its own, so processes that store reports at the same time don't deadlock. The
-- parameters are JSON texts, because the driver formats long arrays so slowly that it would block all
-- threads. Subqueries look rows up, because they use the index: for a join, the planner reads a whole table
-- if it was small when the statement was prepared.
--
-- New rows are checked against the limits without a lock, so processes can exceed a limit by the rows that
-- they store at the same time. All statements except the ones that store usages can be repeated without a
-- change.

-- name: list_foreign_flags, planned once
-- The names of each scope that are flags outside of its projects. Names without a flag are not returned.
SELECT s.scope, n.name
FROM json_to_recordset(%(scopes)s) AS s (scope integer, projects jsonb, names jsonb)
CROSS JOIN LATERAL jsonb_array_elements_text(s.names) AS n (name)
WHERE NOT (SELECT s.projects ? f.project FROM features f WHERE f.name = n.name);

-- name: store_names, planned once
-- Returns the reported applications that are accepted: the known ones of their environment and SDK
-- type, and new ones up to the limit. `seen_at` is renewed every hour, so that the retention job keeps them.
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
)
SELECT environment, sdk_type, app_name FROM written_names
UNION
SELECT environment, sdk_type, app_name FROM reported_names WHERE seen_at IS NOT NULL;

-- name: store_applications, planned once
-- Applications are updated once a minute, or when their strategies change; a report without strategies keeps
-- the existing ones.
INSERT INTO client_applications (app_name, strategies)
SELECT n.app_name, COALESCE(n.strategies, '[]')
FROM json_to_recordset(%(applications)s) AS n (app_name text, strategies jsonb)
WHERE COALESCE((SELECT a.seen_at < now() - interval '1 minute'
                       OR a.strategies <> COALESCE(n.strategies, a.strategies)
                FROM client_applications a
                WHERE a.app_name = n.app_name), true)
ORDER BY n.app_name
ON CONFLICT (app_name) DO UPDATE
SET seen_at = now(),
    strategies = CASE EXCLUDED.strategies
                     WHEN '[]' THEN client_applications.strategies
                     ELSE EXCLUDED.strategies
                 END;

-- name: count_instances, planned once
-- The instances in an environment: of the SDK type `frontend`, or of all other types.
SELECT count(*)
FROM client_instances
WHERE environment = %(environment)s
  AND (sdk_type IS NOT DISTINCT FROM 'frontend') = %(is_frontend)s;

-- name: store_instances, planned once
-- Returns whether each one is new: then no transaction has locked its row for an update (xmax). It doesn't
-- read the table, for which the planner would choose a scan if the table was small when it was analyzed.
INSERT INTO client_instances (app_name, instance_id, environment, sdk_version, sdk_type, client_ip)
SELECT app_name, instance_id, environment, sdk_version, sdk_type, client_ip
FROM json_to_recordset(%(instances)s)
     AS n (app_name text, instance_id text, environment text, sdk_version text, sdk_type text,
           client_ip text)
ORDER BY app_name, instance_id, environment
ON CONFLICT (app_name, instance_id, environment) DO UPDATE
SET last_seen = now(),
    client_ip = EXCLUDED.client_ip,
    sdk_version = COALESCE(EXCLUDED.sdk_version, client_instances.sdk_version),
    sdk_type = COALESCE(EXCLUDED.sdk_type, client_instances.sdk_type)
RETURNING app_name, instance_id, environment,
          sdk_type IS NOT DISTINCT FROM 'frontend' AS is_frontend, xmax = 0 AS is_new,
          true AS is_stored;

-- name: store_instances_with_room, planned once
-- Stores known instances, and new ones up to the `room` of their environment and SDK type, which counts in
-- each row. Returns the new ones and whether they were stored. It is prepared when the table is near its
-- limit, so its plan has the index.
WITH reported AS MATERIALIZED (
    SELECT n.app_name, n.instance_id, n.environment, n.sdk_version, n.sdk_type, n.client_ip, n.room,
           n.sdk_type IS NOT DISTINCT FROM 'frontend' AS is_frontend,
           (SELECT true
            FROM client_instances i
            WHERE i.app_name = n.app_name
              AND i.instance_id = n.instance_id
              AND i.environment = n.environment) IS NULL AS is_new
    FROM json_to_recordset(%(instances)s)
         AS n (app_name text, instance_id text, environment text, sdk_version text, sdk_type text,
               client_ip text, room integer)
), written AS (
    INSERT INTO client_instances
        (app_name, instance_id, environment, sdk_version, sdk_type, client_ip)
    SELECT app_name, instance_id, environment, sdk_version, sdk_type, client_ip
    FROM (SELECT app_name, instance_id, environment, sdk_version, sdk_type, client_ip, room, is_new,
                 row_number() OVER (PARTITION BY environment, is_frontend, is_new
                                    ORDER BY app_name, instance_id) AS position
          FROM reported) n
    WHERE NOT is_new OR position <= room
    ORDER BY app_name, instance_id, environment
    ON CONFLICT (app_name, instance_id, environment) DO UPDATE
    SET last_seen = now(),
        client_ip = EXCLUDED.client_ip,
        sdk_version = COALESCE(EXCLUDED.sdk_version, client_instances.sdk_version),
        sdk_type = COALESCE(EXCLUDED.sdk_type, client_instances.sdk_type)
    RETURNING app_name, instance_id, environment
)
SELECT n.app_name, n.instance_id, n.environment, n.is_frontend, n.is_new,
       w.app_name IS NOT NULL AS is_stored
FROM reported n
LEFT JOIN written w ON w.app_name = n.app_name AND w.instance_id = n.instance_id
                   AND w.environment = n.environment
WHERE n.is_new;

-- name: store_last_seen, planned once
-- When SDKs last evaluated each flag, once a minute.
INSERT INTO feature_last_seen (feature, environment, seen_at)
SELECT n.feature, n.environment, now()
FROM json_to_recordset(%(flags)s) AS n (feature text, environment text)
WHERE (SELECT true FROM features f WHERE f.name = n.feature)
  AND COALESCE((SELECT s.seen_at < now() - interval '1 minute'
                FROM feature_last_seen s
                WHERE s.feature = n.feature AND s.environment = n.environment), true)
ORDER BY n.feature, n.environment
ON CONFLICT (feature, environment) DO UPDATE SET seen_at = EXCLUDED.seen_at;

-- part: written_usages
reported_usages AS MATERIALIZED (
    SELECT n.feature, n.app_name, n.environment, n.hour, n.yes, n.no, n.is_frontend,
           (SELECT true FROM features f WHERE f.name = n.feature) IS NOT NULL AS exists
    FROM json_to_recordset(%(usages)s)
         AS n (feature text, app_name text, environment text, hour timestamptz, yes bigint, no bigint,
               is_frontend boolean)
), written_usages AS (
    INSERT INTO client_metrics (feature, app_name, environment, hour, yes, no,
                                frontend_yes, frontend_no)
    SELECT feature, app_name, environment, hour, sum(yes), sum(no),
           COALESCE(sum(yes) FILTER (WHERE is_frontend), 0),
           COALESCE(sum(no) FILTER (WHERE is_frontend), 0)
    FROM reported_usages
    WHERE exists
    GROUP BY feature, app_name, environment, hour
    ORDER BY feature, app_name, environment, hour
    ON CONFLICT (feature, app_name, environment, hour)
    DO UPDATE SET yes = client_metrics.yes + EXCLUDED.yes,
                  no = client_metrics.no + EXCLUDED.no,
                  frontend_yes = client_metrics.frontend_yes + EXCLUDED.frontend_yes,
                  frontend_no = client_metrics.frontend_no + EXCLUDED.frontend_no
    RETURNING feature
)

-- name: store_usages, planned once
-- Adds to the sums by flag, application, environment and hour, and returns the flags that don't exist. Flags
-- are looked up here rather than in a cache, so that new ones count at once.
WITH {{written_usages}}
SELECT DISTINCT feature
FROM reported_usages
WHERE NOT exists;

-- name: store_usages_with_variants, planned once
-- Like `store_usages`, with the sums of variants in the same transaction; returns unknown flags and the
-- variants that are not stored, as JSON lists. Stores the variants that the flag has in the environment or on
-- a strategy there, and `disabled`, which SDKs count for a flag without variants. The second INSERT reads the
-- result of the first one, so that all processes lock both tables in the same order.
WITH {{written_usages}}, reported_variants AS MATERIALIZED (
    SELECT n.feature, n.app_name, n.environment, n.hour, n.variant, sum(n.count)::bigint AS count,
           COALESCE(sum(n.count) FILTER (WHERE n.is_frontend), 0)::bigint AS frontend_count
    FROM json_to_recordset(%(variants)s)
         AS n (feature text, app_name text, environment text, hour timestamptz, variant text,
               count bigint, is_frontend boolean)
    WHERE (SELECT true FROM features f WHERE f.name = n.feature)
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
    INSERT INTO client_metrics_variants (feature, app_name, environment, hour, variant, count,
                                         frontend_count)
    SELECT n.feature, n.app_name, n.environment, n.hour, n.variant, n.count, n.frontend_count
    FROM reported_variants n
    WHERE (n.variant = 'disabled'
           OR (n.feature, n.environment, n.variant)
              IN (SELECT feature, environment, variant FROM known_variants))
      AND (SELECT count(*) FROM written_usages) >= 0
    ORDER BY n.feature, n.app_name, n.environment, n.hour, n.variant
    ON CONFLICT (feature, app_name, environment, hour, variant)
    DO UPDATE SET count = client_metrics_variants.count + EXCLUDED.count,
                  frontend_count = client_metrics_variants.frontend_count + EXCLUDED.frontend_count
    RETURNING feature, environment, variant
)
SELECT (SELECT json_agg(DISTINCT feature) FROM reported_usages WHERE NOT exists) AS unknown_flags,
       (SELECT json_agg(json_build_array(feature, environment, variant))
        FROM (SELECT feature, environment, variant FROM reported_variants
              EXCEPT
              SELECT feature, environment, variant FROM written_variants) d) AS dropped_variants;

-- name: delete_orphaned_last_seen
DELETE FROM feature_last_seen
WHERE ctid = ANY(ARRAY(
    SELECT s.ctid
    FROM feature_last_seen s
    WHERE NOT EXISTS (SELECT 1 FROM features f WHERE f.name = s.feature)
       OR NOT EXISTS (SELECT 1 FROM environments e WHERE e.name = s.environment)
    LIMIT %(chunk)s
    FOR UPDATE OF s SKIP LOCKED
));

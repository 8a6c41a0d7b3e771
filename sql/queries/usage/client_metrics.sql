-- How often flags were evaluated as enabled and disabled, summed by hour. Written with reports
-- (reports.sql); deleted by the retention job in chunks.

-- name: list_client_metrics
-- The last `hours` hours of a flag by application, the current hour included.
SELECT m.app_name, m.environment, m.hour, m.yes, m.no, m.frontend_yes, m.frontend_no,
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
-- Like list_client_metrics, summed over applications.
SELECT environment, hour, sum(yes)::bigint AS yes, sum(no)::bigint AS no
FROM client_metrics
WHERE feature = %(feature)s
  AND hour > now() - make_interval(hours => %(hours)s)
GROUP BY environment, hour
ORDER BY hour, environment;

-- name: list_client_metrics_slots
-- Sums of slots of `slot_hours` hours for a chart, in the last `hours` hours, of one application or all
-- (NULL), of one SDK type or both (NULL); `ago` is 0 for the slot with the current hour.
SELECT environment,
       (extract(epoch FROM date_trunc('hour', now(), 'UTC') - hour) / 3600)::int / %(slot_hours)s
           AS ago,
       sum(yes)::bigint AS yes, sum(no)::bigint AS no
FROM (
    SELECT environment, hour,
           CASE %(sdk_type)s::text WHEN 'frontend' THEN frontend_yes
                                   WHEN 'backend' THEN yes - frontend_yes ELSE yes END AS yes,
           CASE %(sdk_type)s::text WHEN 'frontend' THEN frontend_no
                                   WHEN 'backend' THEN no - frontend_no ELSE no END AS no
    FROM client_metrics
    WHERE feature = %(feature)s
      AND hour > date_trunc('hour', now(), 'UTC') - make_interval(hours => %(hours)s)
      AND (%(app_name)s::text IS NULL OR app_name = %(app_name)s)
) m
WHERE yes > 0 OR no > 0 OR %(sdk_type)s::text IS NULL
GROUP BY environment, ago
ORDER BY environment, ago DESC;

-- part: variant_counts
SELECT environment, hour, variant,
       CASE %(sdk_type)s::text WHEN 'frontend' THEN frontend_count
                               WHEN 'backend' THEN count - frontend_count
                               ELSE count END AS count
FROM client_metrics_variants
WHERE feature = %(feature)s
  AND hour > date_trunc('hour', now(), 'UTC') - make_interval(hours => %(hours)s)
  AND (%(app_name)s::text IS NULL OR app_name = %(app_name)s)

-- name: list_client_metrics_variant_sums
-- The most frequent variants of the same hours, applications and SDK types. SDKs report `disabled` for an
-- evaluation without a variant, most of them with the result no.
SELECT environment, variant, sum(count)::bigint AS count
FROM (
    {{variant_counts}}
) v
WHERE count > 0 AND variant <> 'disabled'
GROUP BY environment, variant
ORDER BY environment, count DESC, variant
LIMIT 100;

-- name: list_client_metrics_variant_slots
-- The variants of the slots of list_client_metrics_slots.
SELECT environment,
       (extract(epoch FROM date_trunc('hour', now(), 'UTC') - hour) / 3600)::int / %(slot_hours)s
           AS ago,
       variant, sum(count)::bigint AS count
FROM (
    {{variant_counts}}
) v
WHERE count > 0 AND variant <> 'disabled'
GROUP BY environment, ago, variant
ORDER BY environment, ago DESC, variant
LIMIT 5000;

-- name: list_client_metrics_apps
SELECT DISTINCT app_name
FROM client_metrics
WHERE feature = %(feature)s
ORDER BY app_name;

-- name: list_applications_of_features
-- The applications that have evaluated these flags, by flag.
SELECT f.feature, array_agg(a.app_name ORDER BY a.app_name) AS app_names
FROM unnest(%(features)s::text[]) AS f (feature)
JOIN client_applications a ON EXISTS (SELECT FROM client_metrics WHERE feature = f.feature AND app_name = a.app_name)
GROUP BY f.feature;

-- name: find_busiest_app
-- The application that has evaluated a flag most often in the last `hours` hours.
SELECT app_name, sum(yes + no)::bigint AS count
FROM client_metrics
WHERE feature = %(feature)s
  AND environment = %(environment)s
  AND hour > now() - make_interval(hours => %(hours)s)
GROUP BY app_name
ORDER BY count DESC, app_name
LIMIT 1;

-- name: list_client_metrics_features
-- The evaluations that applications report, by flag and environment: one index lookup for each flag.
SELECT m.app_name, f.name AS feature, f.project, m.environment,
       sum(m.yes)::bigint AS yes, sum(m.no)::bigint AS no
FROM features f
JOIN client_metrics m ON m.feature = f.name
LEFT JOIN environments e ON e.name = m.environment
WHERE m.app_name = ANY(%(app_names)s)
GROUP BY m.app_name, f.name, f.project, m.environment, e.sort_order
ORDER BY m.app_name, f.name, e.sort_order, m.environment;

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

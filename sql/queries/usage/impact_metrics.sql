-- Impact metrics: the totals of each series, and its values by minute and hour. Written with reports
-- (reports.sql), in one statement for a group of reports. The retention job deletes windows by age, and
-- series whose application or environment was deleted; so totals never decrease while an application exists.

-- name: store_impact_samples, planned once
-- Adds to the totals and windows of the series; a gauge is replaced. New series are stored up to the limits, per
-- application and for all of an SDK type, and of frontend SDKs with up to `bounds_limit` different bounds of a metric
-- of an application. Each key must be there once. Returns how many samples were dropped.
-- Windows are summed for the series and for its group. Groups are written after all series are locked, and windows
-- after the groups, so that processes lock rows in the same order. A gauge keeps its last value in `value`, and the
-- sum and number of its values in `total` and `samples`.
WITH reported AS MATERIALIZED (
    SELECT n.key, n.group_key, n.sdk_type, n.environment, n.app_name, n.name, n.type, n.help, n.labels, n.bounds,
           n.value, n.count, n.buckets, n.samples, n.windows,
           (SELECT true FROM impact_series s WHERE s.key = n.key) IS NULL AS is_new,
           n.sdk_type = 'frontend'
           AND (SELECT true FROM impact_groups g WHERE g.key = n.group_key) IS NULL AS is_new_bounds
    FROM json_to_recordset(%(samples)s)
         AS n (key uuid, group_key uuid, sdk_type text, environment text, app_name text, name text, type text,
               help text, labels jsonb, bounds double precision[], value double precision,
               count double precision, buckets double precision[], samples integer, windows json)
), known_series AS MATERIALIZED (
    SELECT sdk_type, environment, app_name, count(*) AS series
    FROM impact_series
    WHERE sdk_type IN (SELECT sdk_type FROM reported WHERE is_new)
    GROUP BY sdk_type, environment, app_name
), written_series AS (
    INSERT INTO impact_series (key, sdk_type, environment, app_name, name, type, help, labels, bounds,
                               value, count, buckets)
    SELECT key, sdk_type, environment, app_name, name, type, help, labels, bounds,
           value, count, buckets
    FROM (SELECT key, sdk_type, environment, app_name, name, type, help, labels, bounds,
                 value, count, buckets, is_new,
                 row_number() OVER (PARTITION BY is_new, sdk_type, environment, app_name
                                    ORDER BY key) AS app_position,
                 row_number() OVER (PARTITION BY is_new, sdk_type ORDER BY key) AS position,
                 is_new_bounds,
                 dense_rank() OVER (PARTITION BY is_new_bounds, environment, app_name, name, type
                                    ORDER BY group_key) AS bounds_position
          FROM reported) n
    WHERE NOT n.is_new
       OR (n.app_position <= %(app_limit)s::bigint
                             - COALESCE((SELECT k.series
                                         FROM known_series k
                                         WHERE k.sdk_type = n.sdk_type
                                           AND k.environment = n.environment
                                           AND k.app_name = n.app_name), 0)
           AND n.position <= %(limit)s::bigint
                             - COALESCE((SELECT sum(k.series)
                                         FROM known_series k
                                         WHERE k.sdk_type = n.sdk_type), 0)
           AND (NOT n.is_new_bounds
                OR n.bounds_position <= %(bounds_limit)s::bigint
                                        - (SELECT count(*)
                                           FROM impact_groups g
                                           WHERE g.name = n.name
                                             AND g.environment = n.environment
                                             AND g.sdk_type = n.sdk_type
                                             AND g.app_name = n.app_name
                                             AND g.type = n.type)))
    ORDER BY key
    ON CONFLICT (key) DO UPDATE
    SET value = CASE EXCLUDED.type WHEN 'gauge' THEN EXCLUDED.value
                                   ELSE impact_series.value + EXCLUDED.value END,
        count = impact_series.count + EXCLUDED.count,
        buckets = ARRAY(SELECT b.stored + b.reported
                        FROM unnest(impact_series.buckets, EXCLUDED.buckets)
                             WITH ORDINALITY AS b (stored, reported, position)
                        ORDER BY b.position),
        help = EXCLUDED.help,
        reported_at = now()
    RETURNING key
), written_groups AS (
    INSERT INTO impact_groups (key, sdk_type, environment, app_name, name, type, bounds)
    SELECT DISTINCT ON (group_key) group_key, sdk_type, environment, app_name, name, type, bounds
    FROM reported
    WHERE key IN (SELECT key FROM written_series)
    ORDER BY group_key
    ON CONFLICT (key) DO NOTHING
    RETURNING key
), parts AS MATERIALIZED (
    SELECT n.key, n.group_key, n.type = 'gauge' AS is_gauge, w.seconds, w.starts_at, w.value, w.count, w.covers_from,
           w.covers_to, w.total, w.samples, w.buckets
    FROM reported n
    CROSS JOIN json_to_recordset(n.windows)
               AS w (seconds integer, starts_at timestamptz, value double precision, count double precision,
                     covers_from timestamptz, covers_to timestamptz, total double precision,
                     samples double precision, buckets double precision[])
    WHERE n.key IN (SELECT key FROM written_series)
), group_buckets AS (
    SELECT group_key, seconds, starts_at, array_agg(count ORDER BY position) AS buckets
    FROM (SELECT p.group_key, p.seconds, p.starts_at, b.position, sum(b.count) AS count
          FROM parts p
          CROSS JOIN unnest(p.buckets) WITH ORDINALITY AS b (count, position)
          GROUP BY p.group_key, p.seconds, p.starts_at, b.position) b
    GROUP BY group_key, seconds, starts_at
), additions AS (
    SELECT key AS series, seconds, starts_at, is_gauge, value, count, covers_from, covers_to, total, samples, buckets
    FROM parts
    UNION ALL
    SELECT p.group_key, p.seconds, p.starts_at, p.is_gauge, sum(p.value), sum(p.count), min(p.covers_from),
           max(p.covers_to), sum(p.total), sum(p.samples), coalesce(b.buckets, '{}')
    FROM parts p
    LEFT JOIN group_buckets b USING (group_key, seconds, starts_at)
    GROUP BY p.group_key, p.seconds, p.starts_at, p.is_gauge, b.buckets
), written_windows AS (
    INSERT INTO impact_windows (series, seconds, starts_at, is_gauge, value, count, covers_from, covers_to, total,
                                samples, buckets)
    SELECT series, seconds, starts_at, is_gauge, value, count, covers_from, covers_to, total, samples, buckets
    FROM additions
    WHERE (SELECT count(*) FROM written_groups) >= 0
    ORDER BY series, seconds, starts_at
    ON CONFLICT (series, seconds, starts_at) DO UPDATE
    SET value = CASE WHEN EXCLUDED.is_gauge THEN EXCLUDED.value
                     ELSE impact_windows.value + EXCLUDED.value END,
        count = impact_windows.count + EXCLUDED.count,
        covers_from = least(impact_windows.covers_from, EXCLUDED.covers_from),
        covers_to = greatest(impact_windows.covers_to, EXCLUDED.covers_to),
        total = impact_windows.total + EXCLUDED.total,
        samples = impact_windows.samples + EXCLUDED.samples,
        buckets = ARRAY(SELECT coalesce(b.stored, 0) + b.reported
                        FROM unnest(impact_windows.buckets, EXCLUDED.buckets)
                             WITH ORDINALITY AS b (stored, reported, position)
                        ORDER BY b.position)
)
SELECT COALESCE(sum(samples), 0)
FROM reported
WHERE key NOT IN (SELECT key FROM written_series);

-- name: list_impact_stops, planned once
SELECT n.item ->> 0 AS app_name, n.item ->> 1 AS instance_id, n.item ->> 2 AS environment, i.impact_stops
FROM jsonb_array_elements(%(instances)s::jsonb) AS n (item)
CROSS JOIN LATERAL (
    SELECT impact_stops
    FROM client_instances
    WHERE app_name = n.item ->> 0 AND instance_id = n.item ->> 1 AND environment = n.item ->> 2
    LIMIT 1
) i;

-- name: store_impact_stops, planned once
-- Of instances that exist: others exceed their limit.
INSERT INTO client_instances (app_name, instance_id, environment, impact_stops)
SELECT app_name, instance_id, environment, stops
FROM json_to_recordset(%(items)s) AS n (app_name text, instance_id text, environment text, stops jsonb)
WHERE (SELECT true
       FROM client_instances i
       WHERE i.app_name = n.app_name
         AND i.instance_id = n.instance_id
         AND i.environment = n.environment)
ORDER BY app_name, instance_id, environment
ON CONFLICT (app_name, instance_id, environment) DO UPDATE SET impact_stops = EXCLUDED.impact_stops;

-- name: list_impact_series
-- All totals: the series of backend SDKs, then the series of frontend SDKs, the oldest first.
SELECT sdk_type, environment, app_name, name, type, help, labels, bounds, value, count, buckets, reported_at
FROM impact_series
ORDER BY sdk_type, created_at, key;

-- name: list_impact_windows
-- The windows of series with a label of this name, summed by the value of the label, oldest first; of gauges
-- the last value. Above the limit series of backend SDKs go first, because anyone can report as a frontend SDK.
-- Windows are compared as rows, which only the primary key can look up.
SELECT s.environment, s.name, s.type, s.app_name, s.sdk_type, s.labels ->> %(label)s AS variant,
       date_bin(make_interval(secs => %(seconds)s), w.starts_at, 'epoch') AS starts_at,
       min(s.help) AS help,
       CASE s.type WHEN 'gauge' THEN (array_agg(w.value ORDER BY s.reported_at DESC, s.key, w.starts_at DESC))[1]
                   ELSE sum(w.value) END AS value,
       sum(w.count) AS count
FROM (
    SELECT key, environment, name, type, app_name, sdk_type, labels, help, reported_at
    FROM impact_series
    WHERE labels ? %(label)s
    ORDER BY sdk_type, environment, name, app_name, key
    LIMIT %(limit)s
) s
CROSS JOIN LATERAL (
    SELECT starts_at, value, count
    FROM impact_windows
    WHERE (series, seconds, starts_at)
          > (s.key, %(seconds)s, now() - make_interval(secs => %(seconds)s::integer * %(windows)s::integer))
      AND (series, seconds) <= (s.key, %(seconds)s)
) w
GROUP BY s.environment, s.name, s.type, s.app_name, s.sdk_type, s.labels ->> %(label)s, 7
ORDER BY s.environment, s.name, s.type, s.app_name, s.sdk_type, variant, 7;

-- part: items
-- Series of frontend SDKs count only if no backend SDK reports the metric, because anyone can report as a
-- frontend SDK. Materialized, because the planner looked that up for each series.
WITH items AS MATERIALIZED (
    SELECT id, metric, environment, types, app_name, labels, seconds, since, until,
           (SELECT min(g.sdk_type)
            FROM impact_groups g
            WHERE g.name = q.metric AND g.environment = q.environment) AS sdk_type
    FROM json_to_recordset(%(items)s)
         AS q (id integer, metric text, environment text, types text[], app_name text, labels jsonb,
               seconds integer, since timestamptz, until timestamptz)
)

-- part: items_with_sources
-- The series whose metric has all labels of the item.
FROM items q
CROSS JOIN LATERAL (
    SELECT key, type, bounds, sdk_type
    FROM impact_sources
    WHERE is_group = (q.labels = '{}')
      AND name = q.metric
      AND environment = q.environment
      AND sdk_type = q.sdk_type
      AND type = ANY(q.types)
      AND (q.app_name IS NULL OR app_name = q.app_name)
      AND labels @> q.labels
) s

-- name: list_impact_slices
-- The sums of the windows of each item; of gauges the sum and number of values, of histograms the number of
-- observations. One lookup of the primary key for each series or, without labels, group.
{{items}}
SELECT q.id, w.seconds, w.starts_at,
       min(coalesce(w.covers_from, w.starts_at)) AS covers_from,
       max(coalesce(w.covers_to, w.starts_at + make_interval(secs => w.seconds))) AS covers_to,
       sum(CASE WHEN w.is_gauge THEN coalesce(w.total, w.value) ELSE w.value END) AS total,
       sum(CASE s.type WHEN 'histogram' THEN w.count ELSE coalesce(w.samples, 1) END) AS samples,
       min(s.sdk_type) = 'frontend' AS is_frontend
{{items_with_sources}}
CROSS JOIN LATERAL (
    SELECT seconds, starts_at, is_gauge, value, count, covers_from, covers_to, total, samples
    FROM impact_windows
    WHERE (series, seconds, starts_at) >= (s.key, q.seconds, q.since)
      AND (series, seconds, starts_at) < (s.key, q.seconds, q.until)
) w
GROUP BY q.id, w.seconds, w.starts_at
ORDER BY q.id, w.starts_at, w.seconds DESC;

-- name: list_impact_bucket_counts
-- Like list_impact_slices: the observations of histograms above the previous bound and up to this one.
{{items}}
SELECT q.id, w.seconds, w.starts_at, b.bound, sum(b.count - b.count_before) AS count
{{items_with_sources}}
CROSS JOIN LATERAL (
    SELECT seconds, starts_at, buckets
    FROM impact_windows
    WHERE (series, seconds, starts_at) >= (s.key, q.seconds, q.since)
      AND (series, seconds, starts_at) < (s.key, q.seconds, q.until)
) w
CROSS JOIN LATERAL unnest(s.bounds, w.buckets, array_prepend(0::double precision, w.buckets))
                   AS b (bound, count, count_before)
WHERE b.bound IS NOT NULL
  AND b.count IS NOT NULL
GROUP BY q.id, w.seconds, w.starts_at, b.bound
ORDER BY q.id, b.bound;

-- name: delete_old_impact_windows
DELETE FROM impact_windows
WHERE ctid = ANY(ARRAY(
    SELECT ctid
    FROM impact_windows
    WHERE seconds = %(seconds)s
      AND starts_at < now() - make_interval(hours => %(hours)s)
    ORDER BY starts_at
    LIMIT %(chunk)s
    FOR UPDATE SKIP LOCKED
));

-- name: delete_orphaned_impact_series
DELETE FROM impact_series
WHERE ctid = ANY(ARRAY(
    SELECT s.ctid
    FROM impact_series s
    WHERE NOT EXISTS (SELECT 1 FROM client_applications a WHERE a.app_name = s.app_name)
       OR NOT EXISTS (SELECT 1 FROM environments e WHERE e.name = s.environment)
    LIMIT %(chunk)s
    FOR UPDATE OF s SKIP LOCKED
));

-- name: delete_orphaned_impact_groups
DELETE FROM impact_groups
WHERE ctid = ANY(ARRAY(
    SELECT g.ctid
    FROM impact_groups g
    WHERE NOT EXISTS (SELECT 1 FROM client_applications a WHERE a.app_name = g.app_name)
       OR NOT EXISTS (SELECT 1 FROM environments e WHERE e.name = g.environment)
    LIMIT %(chunk)s
    FOR UPDATE OF g SKIP LOCKED
));

-- name: list_impact_metric_names
-- The names that the forms of alert rules suggest.
SELECT name, min(type) AS type
FROM impact_groups
GROUP BY name
ORDER BY name
LIMIT %(limit)s;

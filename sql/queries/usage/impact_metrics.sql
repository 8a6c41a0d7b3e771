-- Impact metrics: the totals of each series, and what it received by minute and hour. Written with reports
-- (reports.sql), in one statement for a group of reports. The retention job deletes windows by age, and series
-- whose application or environment is gone; so totals never decrease while an application exists.

-- name: store_impact_samples
-- Adds to the totals and windows of the series; a gauge is replaced. New series are stored up to the limits, per
-- application and for all of an SDK type. Each key must be there once. Returns how many samples were dropped.
-- The windows are written after all series are locked, so that processes lock rows in the same order.
WITH reported AS MATERIALIZED (
    SELECT n.key, n.sdk_type, n.environment, n.app_name, n.name, n.type, n.help, n.labels, n.bounds,
           n.value, n.count, n.buckets, n.samples,
           (SELECT true FROM impact_series s WHERE s.key = n.key) IS NULL AS is_new
    FROM json_to_recordset(%(samples)s)
         AS n (key uuid, sdk_type text, environment text, app_name text, name text, type text,
               help text, labels jsonb, bounds double precision[], value double precision,
               count double precision, buckets double precision[], samples integer)
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
                 row_number() OVER (PARTITION BY is_new, sdk_type ORDER BY key) AS position
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
                                         WHERE k.sdk_type = n.sdk_type), 0))
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
), written_windows AS (
    INSERT INTO impact_windows (series, seconds, starts_at, is_gauge, value, count)
    SELECT n.key, w.seconds, date_bin(make_interval(secs => w.seconds), now(), 'epoch'),
           n.type = 'gauge', n.value, n.count
    FROM reported n
    CROSS JOIN (VALUES (60), (3600)) AS w (seconds)
    WHERE n.key IN (SELECT key FROM written_series)
      AND (SELECT count(*) FROM written_series) >= 0
    ORDER BY n.key, w.seconds
    ON CONFLICT (series, seconds, starts_at) DO UPDATE
    SET value = CASE WHEN EXCLUDED.is_gauge THEN EXCLUDED.value
                     ELSE impact_windows.value + EXCLUDED.value END,
        count = impact_windows.count + EXCLUDED.count
)
SELECT COALESCE(sum(samples), 0)
FROM reported
WHERE key NOT IN (SELECT key FROM written_series);

-- name: list_impact_series
-- All totals: the series of backend SDKs, then the series of frontend SDKs, the oldest first.
SELECT sdk_type, environment, app_name, name, type, help, labels, bounds, value, count, buckets, reported_at
FROM impact_series
ORDER BY sdk_type, created_at, key;

-- name: list_impact_windows
-- The windows of series with a label of this name, summed by the value of the label, oldest first; of gauges
-- the last value. Above the limit series of backend SDKs go first, because anyone can report as a frontend SDK.
SELECT s.environment, s.name, s.type, s.app_name, s.sdk_type, s.labels ->> %(label)s AS variant,
       w.starts_at,
       min(s.help) AS help,
       CASE s.type WHEN 'gauge' THEN (array_agg(w.value ORDER BY s.reported_at DESC, s.key))[1]
                   ELSE sum(w.value) END AS value,
       sum(w.count) AS count
FROM (
    SELECT key, environment, name, type, app_name, sdk_type, labels, help, reported_at
    FROM impact_series
    WHERE labels ? %(label)s
    ORDER BY sdk_type, environment, name, app_name, key
    LIMIT %(limit)s
) s
JOIN impact_windows w ON w.series = s.key
WHERE w.seconds = %(seconds)s
  AND w.starts_at > now() - make_interval(secs => %(seconds)s::integer * %(windows)s::integer)
GROUP BY s.environment, s.name, s.type, s.app_name, s.sdk_type, s.labels ->> %(label)s, w.starts_at
ORDER BY s.environment, s.name, s.type, s.app_name, s.sdk_type, variant, w.starts_at;

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

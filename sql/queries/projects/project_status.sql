-- Numbers of one project, for the page of tools that shows its status.

-- name: count_for_status
-- Flags are potentially stale when they are older than the lifetime of their type.
SELECT count(*) AS features,
       count(*) FILTER (WHERE f.stale) AS stale,
       count(*) FILTER (WHERE NOT f.stale
                          AND f.created_at < now() - make_interval(days => t.lifetime_days))
       AS potentially_stale,
       (SELECT count(*) FROM api_tokens WHERE %(project)s = ANY(projects)) AS api_tokens,
       (SELECT count(*) FROM segments WHERE project = %(project)s) AS segments
FROM features f
JOIN feature_types t ON t.id = f.type
WHERE f.project = %(project)s AND f.archived_at IS NULL;

-- name: count_events_by_day
-- Of the last year, in UTC; days without events are missing.
SELECT to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, count(*) AS events
FROM events
WHERE project = %(project)s AND created_at > now() - interval '1 year'
GROUP BY 1
ORDER BY 1;

-- Sources of files, and what they manage. Written under lock_revisions.

-- name: put_source
INSERT INTO sources (name, revision, applied_at, applied_by)
VALUES (%(name)s, %(revision)s, now(), %(applied_by)s)
ON CONFLICT (name) DO UPDATE
SET revision = excluded.revision, applied_at = excluded.applied_at, applied_by = excluded.applied_by;

-- name: list_sources
SELECT s.name, s.revision, s.applied_at, s.applied_by,
       (SELECT count(*) FROM features f WHERE f.source = s.name) AS flags,
       (SELECT count(*) FROM segments g WHERE g.source = s.name) AS segments
FROM sources s
ORDER BY s.name;

-- name: delete_source
DELETE FROM sources WHERE name = %(name)s;

-- name: list_managed
-- What a source manages, and what others manage of these flags and segments.
SELECT 'flag' AS kind, f.project, f.name, f.source, f.archived_at IS NOT NULL AS archived,
       EXISTS (
           SELECT FROM feature_last_seen l
           WHERE l.feature = f.name AND l.seen_at >= f.created_at AND l.seen_at > %(used_after)s) AS is_used
FROM features f
WHERE f.source = %(source)s OR f.source IS NOT NULL AND f.name = ANY(%(flags)s)
UNION ALL
SELECT 'segment', g.project, g.name, g.source, false, false
FROM segments g
WHERE g.source = %(source)s OR g.source IS NOT NULL AND g.name = ANY(%(segments)s)
ORDER BY kind, project, name;

-- name: list_changes_since_apply
-- Who last changed the definition of each managed flag after the last apply of its source.
SELECT DISTINCT ON (f.name) f.name, e.created_by, e.created_at
FROM features f
JOIN sources s ON s.name = f.source
JOIN events e ON e.feature_name = f.name AND e.created_at > s.applied_at
WHERE f.name = ANY(%(flags)s)
  AND (e.type LIKE 'feature-%%' OR e.type = 'strategy-order-changed')
  AND e.type NOT IN ('feature-environment-enabled', 'feature-environment-disabled', 'feature-favorited',
                     'feature-unfavorited', 'feature-completed', 'feature-uncompleted', 'feature-kept-off')
ORDER BY f.name, e.id DESC;

-- name: mark
-- `source` NULL ends the management of these.
WITH marked_flags AS (
    UPDATE features SET source = %(source)s WHERE name = ANY(%(flags)s) AND source IS DISTINCT FROM %(source)s
    RETURNING 1
), marked_segments AS (
    UPDATE segments SET source = %(source)s WHERE name = ANY(%(segments)s) AND source IS DISTINCT FROM %(source)s
    RETURNING 1
)
SELECT (SELECT count(*) FROM marked_flags) + (SELECT count(*) FROM marked_segments);

-- Names that the search of the pages finds.

-- name: find_names
-- Names that contain each of `words` (LIKE patterns, in lower case), the shortest first: those
-- without an archived flag, and of endpoints if `endpoints`. `id` is that of the page.
(SELECT 'Flag' AS kind, name, name AS id FROM features
 WHERE archived_at IS NULL AND lower(name) LIKE ALL(%(words)s)
 ORDER BY length(name), name LIMIT %(limit)s)
UNION ALL
(SELECT 'Signal endpoint', name, id::text FROM signal_endpoints
 WHERE %(endpoints)s AND lower(name) LIKE ALL(%(words)s)
 ORDER BY length(name), name LIMIT %(limit)s)
UNION ALL
(SELECT 'Project', name, id FROM projects
 WHERE lower(name || ' ' || id) LIKE ALL(%(words)s)
 ORDER BY length(name), name LIMIT %(limit)s)
UNION ALL
(SELECT 'Segment', name, id::text FROM segments
 WHERE lower(name) LIKE ALL(%(words)s)
 ORDER BY length(name), name LIMIT %(limit)s);

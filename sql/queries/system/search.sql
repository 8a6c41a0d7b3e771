-- Names that the search of the pages finds.

-- name: find_names
-- Names that contain each of `words` (LIKE patterns), the shortest first: those
-- without an archived flag, and of endpoints and action sets if `endpoints`. `id` is the ID in the URL
-- of the page, of an action set with its project.
(SELECT 'Flag' AS kind, name, name AS id FROM features
 WHERE archived_at IS NULL AND name ILIKE ALL(%(words)s)
 ORDER BY length(name), name LIMIT %(limit)s)
UNION ALL
(SELECT 'Signal endpoint', name, id::text FROM signal_endpoints
 WHERE %(endpoints)s AND name ILIKE ALL(%(words)s)
 ORDER BY length(name), name LIMIT %(limit)s)
UNION ALL
(SELECT 'Action set', name, project || '/' || id FROM action_sets
 WHERE %(endpoints)s AND name ILIKE ALL(%(words)s)
 ORDER BY length(name), name LIMIT %(limit)s)
UNION ALL
(SELECT 'Project', name, id FROM projects
 WHERE name || ' ' || id ILIKE ALL(%(words)s)
 ORDER BY length(name), name LIMIT %(limit)s)
UNION ALL
(SELECT 'Segment', name, id::text FROM segments
 WHERE name ILIKE ALL(%(words)s)
 ORDER BY length(name), name LIMIT %(limit)s);

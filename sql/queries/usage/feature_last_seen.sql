-- When SDKs last evaluated each flag. Written with their metrics; the retention job deletes rows of
-- deleted flags and environments.

-- name: upsert_last_seen
-- At most once a minute. Ignores flags and environments that don't exist.
INSERT INTO feature_last_seen (feature, environment, seen_at)
SELECT DISTINCT f.name, e.name, now()
FROM unnest(%(features)s::text[], %(environments)s::text[]) AS m (feature, environment)
JOIN features f ON f.name = m.feature
JOIN environments e ON e.name = m.environment
LEFT JOIN feature_last_seen s ON s.feature = f.name AND s.environment = e.name
WHERE s.seen_at IS NULL OR s.seen_at < now() - interval '1 minute'
ORDER BY f.name, e.name
ON CONFLICT (feature, environment) DO UPDATE SET seen_at = EXCLUDED.seen_at;

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

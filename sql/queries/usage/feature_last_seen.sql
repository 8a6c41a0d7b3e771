-- When SDKs last evaluated each flag. Written with reports (reports.sql); the retention job deletes rows of
-- deleted flags and environments.

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

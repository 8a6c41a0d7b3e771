-- Only guards are dry runs. A dry run of a whole release ends, because it would begin to change its flag.

UPDATE release_guards SET is_watching = false
WHERE release_id IN (SELECT id FROM releases WHERE plan -> 'dryRun' = 'true');
UPDATE releases
SET state = 'stopped', held_by = NULL, held_reason = NULL, held_guard_id = NULL, finished_at = now()
WHERE plan -> 'dryRun' = 'true' AND state IN ('scheduled', 'running', 'held');

-- A rollback isn't undone, a release isn't dismissed, a guard isn't ignored.
ALTER TABLE releases DROP COLUMN dismissed_at;
ALTER TABLE release_guards DROP COLUMN ignored_until;

-- Revisions, which caches check before each use. Each change that a client could see bumps one.

-- name: lock_revisions
-- Allows one change at a time, so that limit checks don't race and deadlocks can't occur.
SELECT id FROM revisions WHERE topic = '' FOR UPDATE;

-- name: bump_revisions
-- To the time in milliseconds, or by one where that is not more. So a number that is lost with a
-- restored backup, or with a commit that no standby had, does not come back with other content.
INSERT INTO revisions (topic, id)
SELECT topic, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint
FROM unnest(%(topics)s::text[]) AS topic
ORDER BY topic
ON CONFLICT (topic) DO UPDATE SET id = greatest(revisions.id + 1, excluded.id);

-- name: find_generation
SELECT id FROM revisions WHERE topic = '';

-- name: list_revisions
SELECT topic, id, event_id FROM revisions;

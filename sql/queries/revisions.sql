-- Revisions, which caches check before each use. Each change that a client could see bumps one.

-- name: lock_revisions
-- Allows one change at a time, so that limit checks don't race and deadlocks can't occur.
SELECT id FROM revisions WHERE topic = '' FOR UPDATE;

-- name: bump_revisions
-- To the time in milliseconds, or by one where that is not more. So a number that is lost with a
-- restored backup, or with a commit that no standby had, does not come back with other content. A
-- trigger gives the other topics the numbers of ''. `above_id` and `above_event_id` are 0, or numbers
-- that were lost and must not come back.
INSERT INTO revisions (topic, id, event_id)
SELECT topic,
       greatest(%(above_id)s + 1, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint),
       %(above_event_id)s
FROM unnest(%(topics)s::text[]) AS topic
ORDER BY topic
ON CONFLICT (topic) DO UPDATE
SET id = greatest(revisions.id + 1, excluded.id),
    event_id = greatest(revisions.event_id, %(above_event_id)s);

-- name: commit_locally
SELECT set_config('synchronous_commit', 'local', true);

-- name: find_generation
SELECT id FROM revisions WHERE topic = '';

-- name: list_revisions
SELECT topic, id, event_id FROM revisions;

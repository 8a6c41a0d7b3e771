-- Revisions, which caches check before each use. Each change that a client could see bumps a revision.

-- name: lock_revisions
-- Allows one change at a time, so that limit checks don't race and deadlocks can't occur.
SELECT id FROM revisions WHERE topic = '' FOR UPDATE;

-- part: bump
-- Sets a revision to the time in milliseconds, or adds one if that is larger. So a number that is lost with a
-- restored backup, or with a commit that no standby had, does not come back with other content. A trigger
-- gives the other topics the numbers of ''. `above_id` and `above_event_id` are 0, or numbers that were lost
-- and must not come back. The former number is read before it is replaced, because the new one is computed
-- from it.
former AS MATERIALIZED (
    SELECT id FROM revisions WHERE topic = '' FOR UPDATE
), bumped AS (
    INSERT INTO revisions (topic, id, event_id)
    SELECT topic,
           greatest((SELECT coalesce(max(id), 0) FROM former) + 1, %(above_id)s + 1,
                    floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint),
           %(above_event_id)s
    FROM unnest(%(topics)s::text[]) AS topic
    ORDER BY topic
    ON CONFLICT (topic) DO UPDATE
    SET id = excluded.id,
        event_id = greatest(revisions.event_id, %(above_event_id)s)
    RETURNING topic, id
), recorded AS (
    INSERT INTO revision_changes (revision, previous, environments, flags, segments)
    SELECT id, (SELECT coalesce(max(id), 0) FROM former), %(environments)s::text[], %(flags)s::text[],
           %(segments)s::integer[]
    FROM bumped
    WHERE topic = ''
    ON CONFLICT (revision) DO UPDATE
    SET previous = excluded.previous, environments = excluded.environments, flags = excluded.flags,
        segments = excluded.segments
)

-- name: bump_revisions
WITH {{bump}}
SELECT;

-- name: commit_locally
SELECT set_config('synchronous_commit', 'local', true);

-- name: find_generation, planned once
SELECT id FROM revisions WHERE topic = '';

-- name: list_revisions
SELECT topic, id, event_id FROM revisions;

-- name: delete_old_revision_changes
-- Revisions are milliseconds. A process that has read nothing for a day reads all flags.
DELETE FROM revision_changes
WHERE revision IN (
    SELECT revision FROM revision_changes
    WHERE revision < (SELECT id FROM revisions WHERE topic = '') - 86400000
    ORDER BY revision
    LIMIT %(chunk)s);

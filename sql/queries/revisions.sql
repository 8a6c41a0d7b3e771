-- What caches ask before they answer. Rows are written by every change that a client could see.

-- name: lock_revisions
-- One change at a time: limits and orders are decided in peace and deadlocks can't arise.
SELECT id FROM revisions WHERE topic = '' FOR UPDATE;

-- name: bump_revisions
INSERT INTO revisions (topic, id)
SELECT topic, 1
FROM unnest(%(topics)s::text[]) AS topic
ORDER BY topic
ON CONFLICT (topic) DO UPDATE SET id = revisions.id + 1;

-- name: find_generation
SELECT id FROM revisions WHERE topic = '';

-- name: list_revisions
SELECT topic, id FROM revisions;

-- The position of the audit log that a job writes to a file or standard output. One process writes at a
-- time: the owner of the lease.

-- name: acquire_audit_log
-- The position, unless another process has the lease, by the clock of the database. The first use begins with
-- the next event.
INSERT INTO audit_log_position AS p (event_id, owner, leased_until)
VALUES (coalesce((SELECT max(id) FROM events), 0), %(owner)s, now() + interval '30 s')
ON CONFLICT (is_only) DO UPDATE
SET owner = EXCLUDED.owner, leased_until = EXCLUDED.leased_until
WHERE p.owner = EXCLUDED.owner OR p.leased_until NOT BETWEEN now() AND EXCLUDED.leased_until
RETURNING event_id, xmax = 0 AS is_first;

-- name: advance_audit_log
UPDATE audit_log_position
SET event_id = %(event_id)s, leased_until = now() + interval '30 s'
WHERE owner = %(owner)s;

-- name: find_newest_event
SELECT coalesce(max(id), 0) AS id FROM events;

-- name: list_event_writers
-- The transactions that may have inserted an event. Each takes this lock before its events get their
-- IDs, so once all of them have ended, no event can appear with a lower ID than the newest event had
-- when they were listed.
SELECT virtualtransaction AS transaction
FROM pg_locks
WHERE relation = 'events'::regclass AND mode = 'RowExclusiveLock';

-- name: list_events_after
SELECT id, created_at, type, created_by, created_by_user_id, ip, project, environment, feature_name,
       data, pre_data, tags
FROM events
WHERE id > %(after)s AND id <= %(last)s
ORDER BY id
LIMIT %(limit)s;

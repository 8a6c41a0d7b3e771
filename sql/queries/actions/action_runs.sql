-- Runs of action sets. Written by the one who holds lock_action_runs, deleted by the retention job.

-- name: lock_action_runs
-- One at a time writes runs, in all processes, so that their ids are in the order of their signals.
SELECT pg_advisory_xact_lock(hashtext('action_runs'));

-- name: insert_runs
-- One for each item of a JSON array; a set and a signal that have a run get no second one.
INSERT INTO action_runs (action_set_id, project, cause, signal_id, restores_run_id, correlation,
                         actor_id, state, reason, dry_run, signal, action_set, finished_at)
SELECT r.action_set_id, r.project, r.cause, r.signal_id, r.restores_run_id, r.correlation,
       r.actor_id, r.state, r.reason, r.dry_run, r.signal, r.action_set,
       CASE WHEN r.state <> 'started' THEN clock_timestamp() END
FROM json_to_recordset(%(runs)s::json)
     AS r (action_set_id int, project text, cause text, signal_id bigint, restores_run_id bigint,
           correlation text, actor_id int, state text, reason text, dry_run boolean, signal json,
           action_set jsonb)
ON CONFLICT (action_set_id, signal_id) DO NOTHING
RETURNING id;

-- name: find_work
-- Asked while nothing is known to wait.
SELECT EXISTS (SELECT 1 FROM signal_queue) AS signals,
       EXISTS (SELECT 1 FROM action_runs WHERE state = 'started') AS runs,
       EXISTS (SELECT 1 FROM action_runs WHERE restore_due_at <= now()) AS restores;

-- name: lock_next_open_run
-- The oldest is everybody's next, so one process at a time goes on with it. Who has waited for it
-- gets it as it was left, or no row when it has ended meanwhile. The service account that it acts as
-- comes along, nulls when that is gone.
SELECT r.id, r.action_set_id, r.project, r.cause, r.signal_id, r.restores_run_id, r.actor_id,
       r.dry_run, r.action_set, r.next_action, r.created_at, u.username AS actor_username,
       (SELECT name FROM roles WHERE id = u.role_id) AS actor_role
FROM action_runs r
LEFT JOIN users u ON u.id = r.actor_id AND u.account_type = 'service'
WHERE r.state = 'started' AND r.id >= %(since)s
ORDER BY r.id
LIMIT 1
FOR UPDATE OF r;

-- name: give_up_run
UPDATE action_runs
SET state = 'failed', reason = %(reason)s, finished_at = clock_timestamp()
WHERE id = %(id)s AND state = 'started';

-- name: update_run
UPDATE action_runs
SET state = %(state)s, action_set = %(action_set)s::jsonb, next_action = %(next_action)s,
    finished_at = CASE WHEN %(state)s <> 'started' THEN clock_timestamp() END,
    restore_due_at = clock_timestamp() + make_interval(mins => %(restore_minutes)s::int)
WHERE id = %(id)s
RETURNING finished_at, (SELECT s.created_at FROM signals s WHERE s.id = action_runs.signal_id)
          AS signal_created_at;

-- name: list_run_statistics
-- What cooldown and the cap ask: the newest run of each set, and how many there were in an hour, as
-- far as the set's cap asks, for a set may have run ever so often. Runs that restore and those that
-- were suppressed do not count.
SELECT s.id AS action_set_id,
       (SELECT max(r.created_at) FROM action_runs r
        WHERE r.action_set_id = s.id AND r.cause = 'signal' AND r.state <> 'suppressed') AS last_at,
       (SELECT count(*)
        FROM (SELECT FROM action_runs r
              WHERE r.action_set_id = s.id AND r.cause = 'signal' AND r.state <> 'suppressed'
                AND r.created_at > now() - interval '1 hour'
              ORDER BY r.created_at DESC LIMIT s.cap) AS counted) AS in_last_hour
FROM unnest(%(sets)s::int[], %(caps)s::int[]) AS s (id, cap);

-- name: find_restorable_run
-- The newest run of a set that changed something and is not restored yet.
SELECT id, action_set_id, project, cause, signal_id, actor_id, action_set, created_at
FROM action_runs
WHERE action_set_id = %(action_set_id)s
  AND cause = 'signal' AND state IN ('success', 'failed') AND NOT dry_run
  AND restored_by_run_id IS NULL AND jsonb_path_exists(action_set, '$.actions[*].changes[*]')
ORDER BY id DESC
LIMIT 1;

-- name: list_firing_alerts
-- An alert's newest run tells: it fires unless that one ended it, or somebody undid what it did.
-- When a set restores, all its alerts are over, so nothing older is asked, nor more than 10 000 runs.
-- BETWEEN where = would do leaves only the index of the set's runs: the primary key's order tempts
-- the planner to read those of all others first.
SELECT action_set_id, correlation
FROM (
    SELECT DISTINCT ON (s.id, r.correlation) s.id AS action_set_id, r.correlation,
           r.cause = 'signal' AND r.restored_by_run_id IS NULL AS fires
    FROM unnest(%(sets)s::int[]) AS s (id)
    LEFT JOIN LATERAL (
        SELECT e.id FROM action_runs e
        WHERE e.action_set_id BETWEEN s.id AND s.id
          AND e.cause = 'resolved' AND e.state <> 'suppressed' AND NOT e.dry_run
        ORDER BY e.action_set_id, e.id DESC LIMIT 1
    ) AS since ON true
    CROSS JOIN LATERAL (
        SELECT n.id, n.correlation, n.cause, n.restored_by_run_id FROM action_runs n
        WHERE n.action_set_id BETWEEN s.id AND s.id AND n.id > coalesce(since.id, 0)
          AND n.correlation IS NOT NULL AND NOT n.dry_run
        ORDER BY n.action_set_id, n.id DESC LIMIT 10000
    ) AS r
    ORDER BY s.id, r.correlation, r.id DESC
) AS newest
WHERE fires;

-- name: list_runs_of_alerts
-- What there is to restore once all alerts of a set are over, newest first; the last time it went
-- well everything older was.
SELECT id, action_set
FROM action_runs
WHERE action_set_id = %(action_set_id)s AND id < %(before)s
  AND id > (SELECT coalesce(max(e.id), 0) FROM action_runs e
            WHERE e.action_set_id = %(action_set_id)s AND e.id < %(before)s
              AND e.cause = 'resolved' AND e.state = 'success' AND NOT e.dry_run)
  AND cause = 'signal' AND correlation IS NOT NULL AND state IN ('success', 'failed')
  AND NOT dry_run AND restored_by_run_id IS NULL
  AND jsonb_path_exists(action_set, '$.actions[*].changes[*]')
ORDER BY id DESC
LIMIT 100;

-- name: mark_restored
-- `by` is the restoring run, which names the newest of them, or none: an action did it.
WITH restoring AS (
    UPDATE action_runs SET restores_run_id = (%(ids)s::bigint[])[1] WHERE id = %(by)s
)
UPDATE action_runs
SET restored_by_run_id = coalesce(%(by)s, id), restore_due_at = NULL
WHERE id = ANY(%(ids)s);

-- name: take_due_restores
-- Runs whose time has come; nobody else gets them.
UPDATE action_runs
SET restore_due_at = NULL
WHERE id IN (
    SELECT id FROM action_runs
    WHERE restore_due_at <= now() AND restored_by_run_id IS NULL
    ORDER BY restore_due_at
    LIMIT 100
)
RETURNING id, action_set_id, project, actor_id, action_set;

-- name: cancel_restore
UPDATE action_runs SET restore_due_at = NULL
WHERE id = %(id)s AND restore_due_at IS NOT NULL;

-- name: find_run
SELECT id, action_set_id, project, cause, signal_id, restores_run_id, restored_by_run_id,
       restore_due_at, correlation, actor_id, state, reason, dry_run, signal, action_set,
       created_at, finished_at
FROM action_runs
WHERE id = %(id)s AND action_set_id = %(action_set_id)s;

-- name: list_runs
-- Newest first: of a set, of a signal, or of a project. A page ends early when the payloads in it
-- exceed `page_bytes`.
SELECT id, action_set_id, project, cause, signal_id, restores_run_id, restored_by_run_id,
       restore_due_at, correlation, actor_id, state, reason, dry_run, signal, action_set,
       created_at, finished_at
FROM (
    SELECT id, action_set_id, project, cause, signal_id, restores_run_id, restored_by_run_id,
           restore_due_at, correlation, actor_id, state, reason, dry_run, signal, action_set,
           created_at, finished_at,
           coalesce(sum(octet_length(signal::text)) OVER (ORDER BY id DESC
                    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS bytes_before
    FROM (
        SELECT id, action_set_id, project, cause, signal_id, restores_run_id, restored_by_run_id,
               restore_due_at, correlation, actor_id, state, reason, dry_run, signal, action_set,
               created_at, finished_at
        FROM action_runs
        WHERE (%(action_set_id)s::int IS NULL OR action_set_id = %(action_set_id)s)
          AND (%(signal_id)s::bigint IS NULL OR signal_id = %(signal_id)s)
          AND (%(project)s::text IS NULL OR project = %(project)s)
          AND (%(before)s::bigint IS NULL OR id < %(before)s)
        ORDER BY id DESC
        LIMIT %(limit)s OFFSET %(offset)s
    ) rows
) page
WHERE bytes_before < %(page_bytes)s
ORDER BY id DESC;

-- name: list_runs_of_signals
-- What stands beside signals: no copies.
SELECT id, action_set_id, project, signal_id, cause, state, reason, dry_run,
       action_set ->> 'name' AS name
FROM action_runs
WHERE signal_id = ANY(%(signal_ids)s)
ORDER BY id;

-- name: list_last_runs
-- The newest run of each set, of one project or of all: one index look-up for each set.
SELECT r.action_set_id, r.id, r.state, r.reason, r.cause, r.dry_run, r.created_at, r.finished_at
FROM action_sets s
CROSS JOIN LATERAL (
    SELECT action_set_id, id, state, reason, cause, dry_run, created_at, finished_at
    FROM action_runs
    WHERE action_set_id = s.id
    ORDER BY id DESC
    LIMIT 1
) r
WHERE %(project)s::text IS NULL OR s.project = %(project)s;

-- name: delete_old_runs
DELETE FROM action_runs
WHERE id IN (
    SELECT id FROM action_runs
    WHERE created_at < now() - make_interval(days => %(days)s) AND state <> 'started'
      AND restore_due_at IS NULL
    LIMIT %(chunk)s
);

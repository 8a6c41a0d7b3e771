-- Runs of action sets. Written by the one who holds lock_action_runs, deleted by the retention job.

-- name: lock_action_runs
-- One at a time, in all processes: runs happen in the order of their signals.
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

-- name: has_work
-- Asked while nothing is known to wait.
SELECT EXISTS (SELECT 1 FROM signal_queue)
       OR EXISTS (SELECT 1 FROM action_runs WHERE state = 'started')
       OR EXISTS (SELECT 1 FROM action_runs WHERE restore_due_at <= now());

-- name: find_next_open_run
SELECT id, action_set_id, project, cause, signal_id, restores_run_id, actor_id, dry_run,
       action_set, next_action, created_at
FROM action_runs
WHERE state = 'started'
ORDER BY id
LIMIT 1;

-- name: update_run
UPDATE action_runs
SET state = %(state)s, action_set = %(action_set)s::jsonb, next_action = %(next_action)s,
    finished_at = CASE WHEN %(state)s <> 'started' THEN clock_timestamp() END,
    restore_due_at = clock_timestamp() + make_interval(mins => %(restore_minutes)s::int)
WHERE id = %(id)s
RETURNING finished_at, (SELECT s.created_at FROM signals s WHERE s.id = action_runs.signal_id)
          AS signal_created_at;

-- name: list_run_statistics
-- What cooldown and the cap ask: the newest run of each set, and how many there were in an hour.
-- Runs that restore and those that were suppressed do not count.
SELECT action_set_id, max(created_at) AS last_at,
       count(*) FILTER (WHERE created_at > now() - interval '1 hour') AS in_last_hour, now() AS now
FROM action_runs
WHERE action_set_id = ANY(%(sets)s) AND cause = 'signal' AND state <> 'suppressed'
GROUP BY action_set_id;

-- name: find_restorable_run
-- The newest run of a set that changed something and is not restored yet.
SELECT id, action_set_id, project, cause, signal_id, actor_id, action_set, created_at
FROM action_runs
WHERE action_set_id = %(action_set_id)s
  AND (%(correlation)s::text IS NULL OR correlation = %(correlation)s)
  AND cause = 'signal' AND state IN ('success', 'failed') AND NOT dry_run
  AND restored_by_run_id IS NULL
ORDER BY id DESC
LIMIT 1;

-- name: mark_restored
-- `by` is the restoring run, or the run itself when an action did it.
UPDATE action_runs
SET restored_by_run_id = coalesce(%(by)s, id), restore_due_at = NULL
WHERE id = %(id)s;

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
-- Newest first: of a set, of a signal, or of a project.
SELECT id, action_set_id, project, cause, signal_id, restores_run_id, restored_by_run_id,
       restore_due_at, correlation, actor_id, state, reason, dry_run, signal, action_set,
       created_at, finished_at
FROM action_runs
WHERE (%(action_set_id)s::int IS NULL OR action_set_id = %(action_set_id)s)
  AND (%(signal_id)s::bigint IS NULL OR signal_id = %(signal_id)s)
  AND (%(project)s::text IS NULL OR project = %(project)s)
  AND (%(before)s::bigint IS NULL OR id < %(before)s)
ORDER BY id DESC
LIMIT %(limit)s OFFSET %(offset)s;

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

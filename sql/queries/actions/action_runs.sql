-- Runs of action sets. Writers hold lock_action_runs; the retention job deletes old runs.

-- name: lock_action_runs
-- Only one process at a time inserts runs, so that their IDs follow the order of the signals.
SELECT pg_advisory_xact_lock(hashtext('action_runs'));

-- part: columns_of_event
-- What the event of a run needs once the run `r` has ended.
r.id, r.action_set_id, r.project, r.cause, r.signal_id, r.alert_key, r.actor_id, r.state, r.reason,
r.dry_run, r.revert_due_at, r.finished_at, r.action_set,
CASE WHEN r.state <> 'started' THEN (r.signal -> 'payload')::text END AS payload,
CASE WHEN r.state <> 'started' THEN (SELECT coalesce(u.username, u.email) FROM users u WHERE u.id = r.actor_id)
END AS actor,
CASE WHEN r.state <> 'started'
     THEN (SELECT e.name FROM signal_endpoints e WHERE e.id = (r.signal ->> 'sourceId')::int)
END AS endpoint,
CASE WHEN r.state <> 'started'
     THEN (SELECT e.options FROM signal_endpoints e WHERE e.id = (r.signal ->> 'sourceId')::int)
END AS endpoint_options

-- name: insert_runs
-- One run for each item of a JSON array, at most one for each set and signal. `is_first` is false for a set that
-- did not run for the same reason in this hour; the part of a reason after a colon differs from run to run.
INSERT INTO action_runs AS r (action_set_id, project, cause, signal_id, reverts_run_id, alert_key,
                         actor_id, state, reason, dry_run, signal, action_set, finished_at)
SELECT x.action_set_id, x.project, x.cause, x.signal_id, x.reverts_run_id, x.alert_key,
       x.actor_id, x.state, x.reason, x.dry_run, x.signal, x.action_set,
       CASE WHEN x.state <> 'started' THEN clock_timestamp() END
FROM json_to_recordset(%(runs)s::json)
     AS x (action_set_id int, project text, cause text, signal_id bigint, reverts_run_id bigint,
           alert_key text, actor_id int, state text, reason text, dry_run boolean, signal json,
           action_set jsonb)
ON CONFLICT (action_set_id, signal_id) DO NOTHING
RETURNING {{columns_of_event}},
    r.state = 'suppressed' AND NOT EXISTS (
        SELECT FROM action_runs e
        WHERE e.action_set_id = r.action_set_id AND e.state = 'suppressed' AND NOT e.dry_run
          AND e.created_at >= date_trunc('hour', clock_timestamp())
          AND split_part(e.reason, ':', 1) = split_part(r.reason, ':', 1)
    ) AS is_first;

-- name: find_pending_work, planned once
-- The actions job runs it when it has no work in memory. Reads the first row of an index, because EXISTS
-- reads the whole table when the planner expects an early match.
SELECT EXISTS (SELECT 1 FROM signal_queue) AS signals,
       (SELECT min(id) FROM action_runs WHERE state = 'started') IS NOT NULL AS runs,
       coalesce((SELECT min(revert_due_at) FROM action_runs) <= coalesce(%(now)s::timestamptz, now()), false) AS reverts,
       coalesce((SELECT min(due_at) FROM action_sets WHERE endpoint_id = 0 AND enabled) <= coalesce(%(now)s::timestamptz, now()), false)
           AS schedules;

-- name: lock_unfinished_runs
-- The oldest run is next for each process, so one process at a time continues it. A process that
-- waited for the locks gets the current rows, without the runs that have ended. The actor columns are
-- NULL if the service account was deleted. `event_id` is for the event of the run if it ends; the
-- lock of a writer of events comes before it, as list_event_writers expects.
WITH lock AS (DELETE FROM events WHERE false)
SELECT nextval('events_id_seq') AS event_id, r.id, r.action_set_id, r.project, r.cause, r.signal_id, r.reverts_run_id, r.actor_id,
       r.dry_run, r.alert_key, r.action_set, r.next_action, r.created_at, u.username AS actor_username,
       (SELECT name FROM roles WHERE id = u.role_id) AS actor_role
FROM action_runs r
LEFT JOIN users u ON u.id = r.actor_id AND u.account_type = 'service'
WHERE r.state = 'started' AND r.id >= %(since)s
ORDER BY r.id
LIMIT %(limit)s
FOR UPDATE OF r;

-- name: fail_run
UPDATE action_runs r
SET state = 'failed', reason = %(reason)s, finished_at = clock_timestamp()
WHERE r.id = %(id)s AND r.state = 'started'
RETURNING {{columns_of_event}};

-- name: update_runs
-- One run for each item of a JSON array, oldest first. Each ends a microsecond after the one before it,
-- so that the times have the order of the runs. BETWEEN restricts the planner to the primary key: it
-- would otherwise read the whole table with a plan from the time when the table was small.
WITH progress AS MATERIALIZED (
    SELECT id, state, action_set, next_action, restore_minutes,
           clock_timestamp() + position * interval '1 microsecond' AS at
    FROM ROWS FROM (json_to_recordset(%(runs)s::json)
                    AS (id bigint, state text, action_set jsonb, next_action int,
                        restore_minutes int))
         WITH ORDINALITY AS p (id, state, action_set, next_action, restore_minutes, position)
)
UPDATE action_runs r
SET state = p.state, action_set = p.action_set, next_action = p.next_action,
    finished_at = CASE WHEN p.state <> 'started' THEN p.at END,
    revert_due_at = p.at + make_interval(mins => p.restore_minutes)
FROM progress p
WHERE r.id = p.id AND r.id BETWEEN %(first)s AND %(last)s
RETURNING {{columns_of_event}},
          (SELECT s.created_at FROM signals s WHERE s.id = r.signal_id) AS signal_created_at;

-- name: list_run_statistics
-- For cooldown and maximum runs per hour: the newest run of each set, and the runs of the last hour, counted
-- up to the set's maximum because a set may have many. Auto-reverts and suppressed runs don't count, and
-- neither do runs later than now, from a clock that was ahead: they would extend the cooldown. Now is not the
-- start of this transaction: it may have waited for another process to record runs.
SELECT s.id AS action_set_id,
       (SELECT max(r.created_at) FROM action_runs r
        WHERE r.action_set_id = s.id AND r.cause = 'signal' AND r.state <> 'suppressed'
          AND r.created_at <= (SELECT clock_timestamp())) AS last_at,
       (SELECT count(*)
        FROM (SELECT FROM action_runs r
              WHERE r.action_set_id = s.id AND r.cause = 'signal' AND r.state <> 'suppressed'
                AND r.created_at > now() - interval '1 hour' AND r.created_at <= (SELECT clock_timestamp())
              ORDER BY r.created_at DESC LIMIT s.max_runs) AS counted) AS in_last_hour
FROM unnest(%(sets)s::int[], %(max_runs)s::int[]) AS s (id, max_runs);

-- name: mark_reverted
-- The run holds nothing after that.
WITH released AS (
    DELETE FROM holds WHERE run_id = %(id)s AND kept_at IS NULL
)
UPDATE action_runs
SET reverted_by_run_id = %(by)s, revert_due_at = NULL
WHERE id = %(id)s;

-- name: pop_due_reverts
-- The runs that are due longest come first. Only one process gets each run.
WITH due AS (
    SELECT id, revert_due_at FROM action_runs
    WHERE revert_due_at <= coalesce(%(now)s::timestamptz, now()) AND reverted_by_run_id IS NULL
    ORDER BY revert_due_at, id
    LIMIT 100
), due_now AS (
    UPDATE action_runs r SET revert_due_at = NULL
    FROM due WHERE r.id = due.id
    RETURNING r.id, r.action_set_id, r.project, r.actor_id, r.action_set,
              due.revert_due_at AS due_at
)
SELECT id, action_set_id, project, actor_id, action_set FROM due_now ORDER BY due_at, id;

-- name: cancel_auto_revert
UPDATE action_runs SET revert_due_at = NULL
WHERE id = %(id)s AND revert_due_at IS NOT NULL;

-- name: find_run
SELECT id, action_set_id, project, cause, signal_id, reverts_run_id, reverted_by_run_id,
       revert_due_at, alert_key, actor_id, state, reason, dry_run, signal, action_set,
       created_at, finished_at
FROM action_runs
WHERE id = %(id)s AND action_set_id = %(action_set_id)s;

-- name: list_runs_since
-- Of signals, newest first, without the copies of these.
SELECT id, action_set_id, project, cause, reverted_by_run_id, alert_key, state, action_set
FROM action_runs
WHERE created_at >= %(since)s AND cause = 'signal' AND state IN ('success', 'failed')
  AND (%(project)s::text IS NULL OR project = %(project)s)
ORDER BY id DESC
LIMIT %(limit)s;

-- name: list_resolved_runs
-- An index on `reverts_run_id` is not needed: reverts are as few as alerts.
SELECT r.id, r.action_set_id, r.project, r.signal_id AS last_signal_id, r.action_set, r.created_at,
       (r.signal ->> 'sourceId')::int AS endpoint_id, b.created_at AS resolved_at
FROM action_runs b
JOIN action_runs r ON r.id = b.reverts_run_id
WHERE b.created_at >= %(since)s AND b.cause = 'resolved' AND b.state = 'success'
  AND (%(project)s::text IS NULL OR r.project = %(project)s)
ORDER BY b.id DESC
LIMIT %(limit)s;

-- name: list_runs_of_set
-- Newest first. A page ends early if its payloads exceed `page_bytes`.
SELECT id, action_set_id, project, cause, signal_id, reverts_run_id, reverted_by_run_id,
       revert_due_at, alert_key, actor_id, state, reason, dry_run, signal, action_set,
       created_at, finished_at
FROM action_runs
WHERE id IN (
    SELECT id
    FROM (
        SELECT id, coalesce(sum(octet_length(signal::text)) OVER (ORDER BY id DESC
                            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS bytes_before
        FROM (
            SELECT id, signal
            FROM action_runs
            WHERE action_set_id = %(action_set_id)s
              AND (%(before)s::bigint IS NULL OR id < %(before)s)
            ORDER BY id DESC
            LIMIT %(limit)s OFFSET %(offset)s
        ) AS rows
    ) AS page
    WHERE bytes_before < %(page_bytes)s
)
ORDER BY id DESC;

-- name: list_runs_of_signals
-- For lists of signals: without the copies of signals and sets, but with the changes.
SELECT id, action_set_id, project, signal_id, cause, state, reason, dry_run, action_set ->> 'name' AS name,
       jsonb_path_query_array(action_set, '$.actions[*].changes[*]')::text AS changes
FROM action_runs
WHERE signal_id = ANY(%(signal_ids)s)
ORDER BY id;

-- name: list_runs_by_id
-- For timelines: without the copies of signals and sets, but with the payload if `payloads`.
SELECT id, action_set_id, project, cause, signal_id, created_at, finished_at,
       action_set ->> 'name' AS name, (signal ->> 'sourceId')::int AS endpoint_id,
       CASE WHEN %(payloads)s THEN (signal -> 'payload')::text END AS payload
FROM action_runs
WHERE id = ANY(%(ids)s);

-- name: count_runs_by_hour
-- The runs that signals of each endpoint started; `hours_ago` 0 is the current hour. The BRIN index on
-- created_at bounds the scan.
SELECT s.endpoint_id AS endpoint_id,
       (extract(epoch FROM date_trunc('hour', now()) - date_trunc('hour', r.created_at)) / 3600)::int
           AS hours_ago,
       count(*) AS runs
FROM action_runs r
JOIN action_sets s ON s.id = r.action_set_id
WHERE r.created_at >= date_trunc('hour', now()) - interval '23 hours'
  AND r.cause = 'signal' AND r.state <> 'suppressed'
GROUP BY s.endpoint_id, hours_ago;

-- name: list_last_runs
-- The newest run of each set: one index look-up for each.
SELECT r.action_set_id, r.id, r.state, r.reason, r.cause, r.dry_run, r.created_at, r.finished_at
FROM unnest(%(action_set_ids)s::int[]) AS s (id)
CROSS JOIN LATERAL (
    SELECT action_set_id, id, state, reason, cause, dry_run, created_at, finished_at
    FROM action_runs
    WHERE action_set_id = s.id
    ORDER BY id DESC
    LIMIT 1
) r;

-- name: delete_old_runs
-- Keeps the runs that will be reverted, after a time or when the alert resolves, and the newest run of an alert.
-- Not EXISTS, for which the planner without statistics would read all rows for each run.
DELETE FROM action_runs
WHERE id = ANY(ARRAY(
    SELECT r.id
    FROM action_runs r
    WHERE r.created_at < now() - make_interval(days => %(days)s) AND r.state <> 'started'
      AND r.revert_due_at IS NULL
      AND (SELECT h.run_id FROM holds h WHERE h.run_id = r.id LIMIT 1) IS NULL
      AND (SELECT a.run_id FROM alerts a
           WHERE a.run_id = r.id AND (a.is_firing OR a.ignored_by IS NOT NULL) LIMIT 1) IS NULL
    LIMIT %(chunk)s
));

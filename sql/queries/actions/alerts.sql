-- The alerts of action sets, and what their runs changed until it is reverted (holds). Writers of alerts hold
-- lock_action_runs, as the evaluation of signals does; writers of holds perform a run, which they have locked, or
-- turn a flag on that a person keeps off.

-- part: can_resolve
-- An alert doesn't fire if its set can't see it resolve: its endpoint was deleted, or the set got another endpoint
-- or another path of the key since.
JOIN action_sets s ON s.id = a.action_set_id AND s.endpoint_id = a.endpoint_id
     AND s.settings #>> '{restoreWhenResolved,key}' = a.key_path
JOIN signal_endpoints e ON e.id = s.endpoint_id

-- part: fires
-- An undo of its newest run ends an alert too. Not EXISTS, for which the planner would read all runs.
(a.is_firing AND (SELECT r.reverted_by_run_id FROM action_runs r WHERE r.id = a.run_id) IS NULL)

-- part: known_end
-- A signal that is an hour younger than the end isn't late: Alertmanager repeats an alert that it resolved
-- because Prometheus was silent with its first time.
CASE WHEN a.reported_at > now() - interval '1 hour' THEN a.resolved_at END

-- name: list_alerts
-- The alerts of some keys, whose sets are at the same positions, and one other alert of each of these sets that
-- fires and isn't ignored.
WITH keys AS MATERIALIZED (
    SELECT action_set_id, sha256(convert_to(key, 'UTF8')) AS key_hash
    FROM unnest(%(sets)s::int[], %(keys)s::text[]) AS k (action_set_id, key)
)
SELECT a.action_set_id, a.key,
       {{fires}} AS is_firing, a.reported_at, {{known_end}} AS resolved_at, a.ignored_by, a.ignored_by_id
FROM keys k
JOIN alerts a ON a.action_set_id = k.action_set_id AND a.key_hash = k.key_hash
{{can_resolve}}
UNION ALL
SELECT other.*
FROM (SELECT DISTINCT action_set_id FROM keys) k
CROSS JOIN LATERAL (
    SELECT a.action_set_id, a.key, a.is_firing, a.reported_at, a.resolved_at, a.ignored_by, a.ignored_by_id
    FROM alerts a
    {{can_resolve}}
    WHERE a.action_set_id = k.action_set_id AND {{fires}} AND a.ignored_by IS NULL
      AND a.key_hash <> ALL(ARRAY(SELECT i.key_hash FROM keys i WHERE i.action_set_id = k.action_set_id))
    LIMIT 1
) AS other;

-- name: end_signals
-- Takes evaluated signals out of the queue, and stores the alerts that they reported: one for each item of a JSON array.
-- No other alert of the sets `reverting` fires now, also none that is ignored. The lock keeps the sets; a set that was
-- deleted is skipped.
WITH items AS MATERIALIZED (
    SELECT i.action_set_id, sha256(convert_to(i.key, 'UTF8')) AS key_hash, i.key, i.endpoint_id, i.key_path,
           i.is_firing, i.run_id, i.resolved_at
    FROM json_to_recordset(%(alerts)s::json)
         AS i (action_set_id int, key text, endpoint_id int, key_path text, is_firing boolean, run_id bigint,
               resolved_at timestamptz)
    JOIN action_sets s ON s.id = i.action_set_id
    ORDER BY s.id
    FOR KEY SHARE OF s
), reverted AS (
    UPDATE alerts a SET is_firing = false
    WHERE a.action_set_id = ANY(%(reverting)s::int[]) AND a.is_firing
      AND NOT EXISTS (SELECT FROM items i WHERE i.action_set_id = a.action_set_id AND i.key_hash = a.key_hash)
), reported AS (
    INSERT INTO alerts AS a (action_set_id, key_hash, key, endpoint_id, key_path, is_firing, run_id, resolved_at,
                             reported_at)
    SELECT i.action_set_id, i.key_hash, i.key, i.endpoint_id, i.key_path, i.is_firing, i.run_id, i.resolved_at,
           coalesce((SELECT r.created_at FROM action_runs r WHERE r.id = i.run_id), clock_timestamp())
    FROM items i
    ON CONFLICT (action_set_id, key_hash) DO UPDATE
    SET endpoint_id = EXCLUDED.endpoint_id, key_path = EXCLUDED.key_path, is_firing = EXCLUDED.is_firing,
        run_id = coalesce(EXCLUDED.run_id, a.run_id), resolved_at = EXCLUDED.resolved_at,
        reported_at = EXCLUDED.reported_at, ignored_by = NULL, ignored_by_id = NULL, ignored_at = NULL
), {{signals/signal_queue.ended}}
SELECT count(*) FROM deleted;

-- name: list_ignored_alerts
SELECT a.action_set_id, a.run_id, a.key, a.ignored_by, a.ignored_at, s.project, s.name
FROM alerts a
JOIN action_sets s ON s.id = a.action_set_id
WHERE a.ignored_by IS NOT NULL
ORDER BY a.action_set_id, a.run_id;

-- name: ignore_alerts
-- The alerts of some keys, whose sets are at the same positions.
UPDATE alerts a
SET ignored_by = %(ignored_by)s, ignored_by_id = %(ignored_by_id)s, ignored_at = now()
FROM unnest(%(sets)s::int[], %(keys)s::text[]) AS k (action_set_id, key)
WHERE a.action_set_id = k.action_set_id AND a.key_hash = sha256(convert_to(k.key, 'UTF8'));

-- name: stop_ignoring_alert
UPDATE alerts
SET ignored_by = NULL, ignored_by_id = NULL, ignored_at = NULL
WHERE action_set_id = %(action_set_id)s AND key_hash = sha256(convert_to(%(key)s, 'UTF8'))
  AND ignored_by IS NOT NULL;

-- name: delete_ended_alerts
-- An hour after the last signal: until then, signals of the same alert that arrive late are recognised. An alert
-- that was never resolved counts as ended after `days`, unless its set holds something.
DELETE FROM alerts
WHERE (action_set_id, key_hash) IN (
    SELECT a.action_set_id, a.key_hash FROM alerts a
    WHERE a.ignored_by IS NULL AND a.reported_at < now() - interval '1 hour'
      AND (NOT {{fires}}
           OR a.reported_at < now() - make_interval(days => %(days)s::int)
              AND NOT EXISTS (SELECT FROM holds h WHERE h.action_set_id = a.action_set_id))
    LIMIT %(chunk)s
);

-- part: has_its_state
-- The flag has the state that the run gave it, and was neither created again nor revived since.
JOIN feature_environments e ON e.feature = h.feature AND e.environment = h.environment
     AND h.change ->> 'what' = 'state' AND h.change -> 'after' = to_jsonb(e.enabled)
JOIN features f ON f.name = h.feature
LEFT JOIN feature_stages i ON i.feature = f.name AND i.stage = 'initial'

-- name: add_holds
-- One for each item of a JSON array, except those of earlier actions. A set that was deleted is skipped.
WITH items AS MATERIALIZED (
    SELECT x.run_id, x.position, x.action_set_id, x.change, x.held_at
    FROM json_to_recordset(%(holds)s::json)
         AS x (run_id bigint, position int, action_set_id int, change jsonb, held_at timestamptz)
    JOIN action_sets s ON s.id = x.action_set_id
    ORDER BY s.id
    FOR KEY SHARE OF s
)
INSERT INTO holds (run_id, position, action_set_id, feature, environment, change, held_at)
SELECT run_id, position, action_set_id, change ->> 'feature', change ->> 'environment', change, held_at FROM items
ON CONFLICT (run_id, position) DO NOTHING;

-- part: holders
-- The sets that hold flags in their states; `is_firing` if the set is enabled and one of its alerts fires, `is_kept` if
-- people keep the flag off.
SELECT DISTINCT h.feature, h.environment, h.action_set_id, s.name, h.kept_at IS NOT NULL AS is_kept,
       s.enabled AND EXISTS (SELECT FROM alerts a {{can_resolve}} WHERE a.action_set_id = h.action_set_id AND {{fires}})
           AS is_firing
FROM holds h
JOIN action_sets s ON s.id = h.action_set_id
{{has_its_state}}
WHERE coalesce(i.entered_at, f.created_at) <= h.held_at

-- name: list_holders
{{holders}} AND h.feature = ANY(%(features)s);

-- name: take_holds
-- What the run `by` reverts, the newest change first: all that the set has held before, and who else holds the flags. Links the runs with it; it
-- refers to the newest of them.
WITH taken AS MATERIALIZED (
    DELETE FROM holds WHERE action_set_id = %(action_set_id)s AND run_id < %(by)s AND kept_at IS NULL
    RETURNING run_id, position, change, held_at
), reverting AS (
    UPDATE action_runs SET reverts_run_id = (SELECT max(run_id) FROM taken) WHERE id = %(by)s
), reverted AS (
    UPDATE action_runs
    SET reverted_by_run_id = %(by)s, revert_due_at = NULL
    WHERE id = ANY(ARRAY(SELECT run_id FROM taken))
)
SELECT change, held_at,
       (SELECT json_agg(o)
        FROM ({{holders}} AND h.feature = ANY(ARRAY(SELECT change ->> 'feature' FROM taken))) AS o) AS holders
FROM taken
ORDER BY run_id DESC, position DESC;

-- name: keep_off
-- What holds the flags off that an alert holds, or one of them if `feature` isn't NULL: also for the alerts of
-- other sets.
WITH flags AS MATERIALIZED (
    SELECT h.feature, h.environment
    FROM holds h
    JOIN action_runs r ON r.id = h.run_id AND r.alert_key = %(key)s
    {{has_its_state}}
    WHERE h.action_set_id = %(action_set_id)s AND NOT e.enabled AND h.kept_at IS NULL
      AND (%(feature)s::text IS NULL OR h.feature = %(feature)s AND h.environment = %(environment)s)
), kept AS (
    UPDATE holds SET kept_by = %(kept_by)s, kept_by_id = %(kept_by_id)s, kept_at = now()
    WHERE (feature, environment) IN (SELECT feature, environment FROM flags)
      AND change ->> 'what' = 'state' AND kept_at IS NULL
    RETURNING feature, environment
)
SELECT DISTINCT feature, environment FROM kept ORDER BY feature, environment;

-- name: list_held_flags
-- One row for each flag and run, newest first; of some flags if `features` isn't NULL. `payload`, with `payloads`,
-- is the one of the signal, in one row of each alert.
SELECT DISTINCT ON (h.run_id, h.feature, h.environment)
       h.run_id AS id, h.action_set_id, r.project, r.signal_id, h.held_at AS created_at, s.name, s.endpoint_id,
       h.feature, h.environment, e.enabled, r.alert_key AS key, h.kept_by, h.kept_by_id, h.kept_at,
       (r.signal ->> 'createdAt')::timestamptz AS signal_created_at,
       coalesce(alert.is_firing, false) AS is_firing,
       coalesce(alert.is_firing AND NOT alert.is_ignored AND s.enabled, false) AS switches_again, coalesce(alert.reported_at, h.held_at) AS reported_at,
       CASE WHEN %(payloads)s AND row_number() OVER (
                PARTITION BY h.action_set_id, r.alert_key ORDER BY h.run_id DESC, h.feature, h.environment
            ) = 1 THEN (r.signal -> 'payload')::text END AS payload
FROM holds h
JOIN action_sets s ON s.id = h.action_set_id
JOIN action_runs r ON r.id = h.run_id
{{has_its_state}}
LEFT JOIN LATERAL (
    SELECT {{fires}} AS is_firing, a.ignored_by IS NOT NULL AS is_ignored, a.reported_at
    FROM alerts a
    {{can_resolve}}
    WHERE a.action_set_id = h.action_set_id AND a.key_hash = sha256(convert_to(r.alert_key, 'UTF8'))
) AS alert ON true
WHERE (%(features)s::text[] IS NULL OR h.feature = ANY(%(features)s))
  AND coalesce(i.entered_at, f.created_at) <= h.held_at
ORDER BY h.run_id DESC, h.feature, h.environment
LIMIT %(limit)s;

-- name: find_last_report
-- When the last signal about an alert that had fired was evaluated.
SELECT max(reported_at) FROM alerts WHERE run_id IS NOT NULL;

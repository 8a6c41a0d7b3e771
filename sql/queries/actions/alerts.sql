-- The alerts of action sets. Writers hold lock_action_runs, as the evaluation of signals does.

-- part: can_resolve
-- An alert doesn't fire if its set can't see it resolve: its endpoint was deleted, or the set got another endpoint
-- or another path of the key since.
JOIN action_sets s ON s.id = a.action_set_id AND s.source_id = a.source_id
     AND s.settings #>> '{restoreWhenResolved,key}' = a.key_path
JOIN signal_endpoints e ON e.id = s.source_id

-- part: fires
-- An undo of its newest run ends an alert too. Not EXISTS, for which the planner would read all runs.
(a.is_firing AND (SELECT r.restored_by_run_id FROM action_runs r WHERE r.id = a.run_id) IS NULL)

-- name: list_alerts
-- The alerts of some keys, whose sets are at the same positions, and one other alert of each of these sets that
-- fires and isn't ignored.
WITH keys AS MATERIALIZED (
    SELECT action_set_id, sha256(convert_to(key, 'UTF8')) AS key_hash
    FROM unnest(%(sets)s::int[], %(keys)s::text[]) AS k (action_set_id, key)
)
SELECT a.action_set_id, a.key,
       {{fires}} AS is_firing, a.reported_at, a.resolved_at, a.ignored_by, a.ignored_by_id
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

-- name: list_firing_sets
-- Those of some sets that have an alert that fires.
SELECT DISTINCT a.action_set_id
FROM alerts a
{{can_resolve}}
WHERE a.action_set_id = ANY(%(sets)s) AND {{fires}};

-- name: store_alerts
-- The alerts that a batch of signals reported: one for each item of a JSON array. No other alert of the sets
-- `reverting` fires now, also none that is ignored. The lock keeps the sets; a set that was deleted is skipped.
WITH items AS MATERIALIZED (
    SELECT i.action_set_id, sha256(convert_to(i.key, 'UTF8')) AS key_hash, i.key, i.source_id, i.key_path,
           i.is_firing, i.run_id, i.resolved_at
    FROM json_to_recordset(%(alerts)s::json)
         AS i (action_set_id int, key text, source_id int, key_path text, is_firing boolean, run_id bigint,
               resolved_at timestamptz)
    JOIN action_sets s ON s.id = i.action_set_id
    ORDER BY s.id
    FOR KEY SHARE OF s
), reverted AS (
    UPDATE alerts a SET is_firing = false
    WHERE a.action_set_id = ANY(%(reverting)s::int[]) AND a.is_firing
      AND NOT EXISTS (SELECT FROM items i WHERE i.action_set_id = a.action_set_id AND i.key_hash = a.key_hash)
)
INSERT INTO alerts AS a (action_set_id, key_hash, key, source_id, key_path, is_firing, run_id, resolved_at,
                         reported_at)
SELECT i.action_set_id, i.key_hash, i.key, i.source_id, i.key_path, i.is_firing, i.run_id, i.resolved_at,
       coalesce((SELECT r.created_at FROM action_runs r WHERE r.id = i.run_id), clock_timestamp())
FROM items i
ON CONFLICT (action_set_id, key_hash) DO UPDATE
SET source_id = EXCLUDED.source_id, key_path = EXCLUDED.key_path, is_firing = EXCLUDED.is_firing,
    run_id = coalesce(EXCLUDED.run_id, a.run_id), resolved_at = EXCLUDED.resolved_at,
    reported_at = EXCLUDED.reported_at, ignored_by = NULL, ignored_by_id = NULL, ignored_at = NULL;

-- name: list_ignored_alerts
SELECT a.action_set_id, a.run_id, a.key, a.ignored_by, a.ignored_at, s.project, s.name
FROM alerts a
JOIN action_sets s ON s.id = a.action_set_id
WHERE a.ignored_by IS NOT NULL
ORDER BY a.action_set_id, a.run_id;

-- name: ignore_alert
UPDATE alerts
SET ignored_by = %(ignored_by)s, ignored_by_id = %(ignored_by_id)s, ignored_at = now()
WHERE action_set_id = %(action_set_id)s AND key_hash = sha256(convert_to(%(key)s, 'UTF8'));

-- name: stop_ignoring_alert
UPDATE alerts
SET ignored_by = NULL, ignored_by_id = NULL, ignored_at = NULL
WHERE action_set_id = %(action_set_id)s AND key_hash = sha256(convert_to(%(key)s, 'UTF8'))
  AND ignored_by IS NOT NULL;

-- name: delete_ended_alerts
-- A day after the last signal: until then, signals of the same alert that arrive late are recognised.
DELETE FROM alerts
WHERE (action_set_id, key_hash) IN (
    SELECT a.action_set_id, a.key_hash FROM alerts a
    WHERE NOT {{fires}} AND a.ignored_by IS NULL AND a.reported_at < now() - interval '1 day'
    LIMIT %(chunk)s
);

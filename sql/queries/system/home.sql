-- The contents of the home page.

-- name: find_first_steps
-- Whether each of the first steps was taken.
SELECT EXISTS (SELECT 1 FROM features) AS flag,
       EXISTS (SELECT 1 FROM api_tokens WHERE type <> 'admin') AS token,
       EXISTS (SELECT 1 FROM client_applications) AS sdk,
       EXISTS (SELECT 1 FROM signal_endpoints) AS endpoint,
       EXISTS (SELECT 1 FROM signals) AS signal,
       EXISTS (SELECT 1 FROM action_sets) AS action;

-- name: list_flags_of_alerts
-- Flags that a run for an alert switched, which is not reverted, and that still have the state that
-- the run gave them (and were neither created again nor revived since): of the newest 100 such runs of each
-- set, newest first; of some flags if `features` isn't NULL. `payload`, with `payloads`, is the one of the
-- signal. BETWEEN: see delete_old_runs.
SELECT DISTINCT ON (r.id, c.change ->> 'feature', c.change ->> 'environment')
       r.id, r.action_set_id, r.project, r.signal_id, r.correlation, r.created_at, s.name, s.source_id,
       s.enabled AS is_set_enabled,
       c.change ->> 'feature' AS feature, c.change ->> 'environment' AS environment, e.enabled,
       (r.signal ->> 'createdAt')::timestamptz AS signal_created_at,
       CASE WHEN %(payloads)s THEN (r.signal -> 'payload')::text END AS payload
FROM action_sets s
CROSS JOIN LATERAL (
    SELECT n.id, n.action_set_id, n.project, n.signal_id, n.correlation, n.created_at, n.action_set,
           n.signal
    FROM action_runs n
    WHERE n.action_set_id BETWEEN s.id AND s.id
      AND n.cause = 'signal' AND n.correlation IS NOT NULL AND NOT n.dry_run
      AND n.restored_by_run_id IS NULL AND n.state IN ('success', 'failed')
      AND jsonb_path_exists(n.action_set, '$.actions[*].changes[*]')
    ORDER BY n.action_set_id, n.id DESC
    LIMIT 100
) r
CROSS JOIN LATERAL jsonb_path_query(r.action_set, '$.actions[*].changes[*] ? (@.what == "state")')
           AS c (change)
JOIN feature_environments e ON e.feature = c.change ->> 'feature'
     AND e.environment = c.change ->> 'environment'
     AND e.enabled = (c.change ->> 'after')::boolean
JOIN features f ON f.name = e.feature
LEFT JOIN feature_stages i ON i.feature = f.name AND i.stage = 'initial'
WHERE (%(features)s::text[] IS NULL OR e.feature = ANY(%(features)s))
  AND coalesce(i.entered_at, f.created_at) <= r.created_at
ORDER BY r.id DESC, c.change ->> 'feature', c.change ->> 'environment'
LIMIT %(limit)s;

-- name: find_last_alert
-- Reads the newest 100 runs of each set. BETWEEN: see delete_old_runs.
SELECT max(r.created_at)
FROM action_sets s
CROSS JOIN LATERAL (
    SELECT n.created_at, n.cause, n.correlation, n.dry_run
    FROM action_runs n
    WHERE n.action_set_id BETWEEN s.id AND s.id
    ORDER BY n.action_set_id, n.id DESC
    LIMIT 100
) r
WHERE r.cause = 'signal' AND r.correlation IS NOT NULL AND NOT r.dry_run;

-- name: list_newest_runs
-- Without the copies of signals and sets.
SELECT id, action_set_id, project, cause, state, reason, dry_run, created_at, restored_by_run_id,
       action_set ->> 'name' AS name,
       cause = 'signal' AND state IN ('success', 'failed') AND restored_by_run_id IS NULL
           AND jsonb_path_exists(action_set, '$.actions[*].changes[*]') AS can_undo
FROM action_runs
ORDER BY id DESC
LIMIT %(limit)s;

-- name: list_stale_flags
-- Flags that are marked as stale, or older than the lifetime of their type, oldest first.
SELECT f.name, f.project, f.type, f.stale, f.created_at, count(*) OVER () AS total,
       count(*) FILTER (WHERE f.stale) OVER () AS stale_total
FROM features f
JOIN feature_types t ON t.id = f.type
WHERE f.archived_at IS NULL
  AND (f.stale OR f.created_at < now() - make_interval(days => t.lifetime_days))
ORDER BY f.created_at, f.name
LIMIT %(limit)s;

-- name: list_failed_schedules
-- The newest run of each schedule that failed in the last week, newest first.
SELECT r.id, s.id AS action_set_id, s.project, s.name, r.created_at,
       coalesce(jsonb_path_query_first(r.action_set, '$.actions[*] ? (@.state == "failed").details') #>> '{}',
                r.reason, 'The run failed.') AS text
FROM action_sets s
CROSS JOIN LATERAL (
    SELECT id, state, created_at, reason, action_set
    FROM action_runs
    WHERE action_set_id = s.id
    ORDER BY id DESC
    LIMIT 1
) r
WHERE s.source_id = 0 AND r.state = 'failed' AND r.created_at > now() - interval '7 days'
ORDER BY r.id DESC
LIMIT %(limit)s;

-- name: list_silent_endpoints
SELECT e.id, e.name, c.state, c.since, c.last_signal_at
FROM silence_checks c
JOIN signal_endpoints e ON e.id = c.endpoint_id
WHERE c.state IN ('late', 'down') AND e.enabled
ORDER BY c.since, e.name;

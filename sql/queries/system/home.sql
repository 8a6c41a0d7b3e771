-- The contents of the home page.

-- name: find_first_steps
-- Whether each of the first steps was taken.
SELECT EXISTS (SELECT 1 FROM features) AS flag,
       EXISTS (SELECT 1 FROM api_tokens WHERE type <> 'admin') AS token,
       EXISTS (SELECT 1 FROM client_applications) AS sdk,
       EXISTS (SELECT 1 FROM signal_endpoints) AS endpoint,
       EXISTS (SELECT 1 FROM signals) AS signal,
       EXISTS (SELECT 1 FROM action_sets) AS action;

-- name: list_newest_runs
-- Without the copies of signals and sets.
SELECT id, action_set_id, project, cause, state, reason, dry_run, created_at, reverted_by_run_id,
       action_set ->> 'name' AS name,
       cause = 'signal' AND state IN ('success', 'failed') AND reverted_by_run_id IS NULL
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
WHERE s.endpoint_id = 0 AND r.state = 'failed' AND r.created_at > now() - interval '7 days'
ORDER BY r.id DESC
LIMIT %(limit)s;

-- name: list_silent_endpoints
-- Those of which a rule on silence fires, longest first.
SELECT e.id, e.name, min(r.since) AS since, min(r.last_signal_at) AS last_signal_at
FROM alert_rules r
JOIN signal_endpoints e ON e.id = r.silent_endpoint_id
WHERE r.state = 'firing' AND r.enabled AND r.guard_id IS NULL AND e.enabled
GROUP BY e.id
ORDER BY since, e.name;

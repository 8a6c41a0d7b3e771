-- The contents of the home page.

-- name: find_first_steps
-- Whether each of the first steps was taken, and the application that was seen last.
SELECT EXISTS (SELECT 1 FROM features) AS flag,
       EXISTS (SELECT 1 FROM api_tokens WHERE type <> 'admin') AS token,
       a.app_name AS application,
       a.seen_at,
       EXISTS (SELECT 1 FROM signal_endpoints) OR EXISTS (SELECT 1 FROM alert_rules WHERE guard_id IS NULL) AS source,
       EXISTS (SELECT 1 FROM action_sets) AS action,
       (SELECT count(*) FROM (SELECT 1 FROM users WHERE account_type = 'user' LIMIT 2) AS two) = 2 AS colleague
FROM (VALUES (1)) AS one
LEFT JOIN (SELECT app_name, seen_at FROM client_applications ORDER BY seen_at DESC LIMIT 1) AS a ON true;

-- name: count_production_flags
-- A flag is on if it is on in an environment of the type production.
SELECT count(*) FILTER (WHERE is_on) AS on_count, count(*) FILTER (WHERE NOT is_on) AS off_count
FROM (
    SELECT bool_or(coalesce(s.enabled, false)) AS is_on
    FROM features f
    JOIN project_environments p ON p.project = f.project
    JOIN environments e ON e.name = p.environment AND e.type = 'production' AND e.enabled
    LEFT JOIN feature_environments s ON s.feature = f.name AND s.environment = e.name
    WHERE f.archived_at IS NULL
    GROUP BY f.name
) AS flags;

-- name: list_failed_runs
-- The newest run of each schedule in the last week, and of each enabled automation in the last day, if it failed, newest
-- first. `flag_count` is the number of flags that the actions of an automation name, NULL if one names a tag.
SELECT r.id, s.id AS action_set_id, s.project, s.name, r.created_at, s.endpoint_id = 0 AS is_schedule,
       jsonb_array_length(jsonb_path_query_array(r.action_set, '$.actions[*] ? (@.state == "success")')) AS changed_count,
       CASE WHEN NOT r.action_set @? '$.actions[*].executionParams.tag'
            THEN jsonb_array_length(r.action_set -> 'actions') END AS flag_count,
       coalesce(jsonb_path_query_first(r.action_set, '$.actions[*] ? (@.state == "failed").details') #>> '{}',
                r.reason, 'The run failed.') AS text
FROM action_sets s
CROSS JOIN LATERAL (
    (SELECT id, state, created_at, reason, action_set
     FROM action_runs
     WHERE s.endpoint_id = 0 AND action_set_id = s.id
     ORDER BY id DESC
     LIMIT 1)
    UNION ALL
    (SELECT id, state, created_at, reason, action_set
     FROM action_runs
     WHERE s.endpoint_id <> 0 AND s.enabled AND action_set_id = s.id AND cause = 'signal' AND state <> 'suppressed'
     ORDER BY created_at DESC
     LIMIT 1)
) r
WHERE r.state = 'failed'
  AND r.created_at > now() - CASE WHEN s.endpoint_id = 0 THEN interval '7 days' ELSE interval '1 day' END
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

-- Integrations that receive notifications, chosen by name.

-- name: lock_channels
-- Locks integrations, so that none is renamed or deleted until the end of the transaction.
SELECT pg_advisory_xact_lock_shared(hashtext('integrations'));

-- name: list_channels
SELECT name, provider, enabled FROM integrations WHERE name IS NOT NULL ORDER BY name;

-- name: find_channel
SELECT id, name, provider, enabled, parameters, secrets, xmin::text AS version
FROM integrations
WHERE name = %(name)s;

-- name: list_channel_users
-- The users of the channel: action sets, endpoints, alert rules, and releases that haven't ended.
SELECT 'action set ' || s.name || ' of ' || s.project AS label
FROM action_sets s
WHERE s.settings -> 'notifications' @> %(reference)s::jsonb
UNION ALL
SELECT 'endpoint ' || e.name
FROM signal_endpoints e
WHERE e.options -> 'silence' -> 'notifications' @> %(reference)s::jsonb
UNION ALL
SELECT 'alert rule ' || a.name
FROM alert_rules a
WHERE a.notifications @> %(reference)s::jsonb
UNION ALL
SELECT 'release of ' || r.feature || ' in ' || r.environment
FROM releases r
WHERE r.state IN ('scheduled', 'running', 'held') AND r.plan -> 'notifications' @> %(reference)s::jsonb
ORDER BY label;

-- Alerts that people ignore until they resolve: for each action set one row of settings, a JSON object with
-- the alerts by key. Writers hold lock_action_runs, as the evaluation of signals does, which reads them.

-- name: list_ignored_alerts
SELECT s.id AS action_set_id, t.value
FROM unnest(%(sets)s::int[]) AS s (id)
CROSS JOIN LATERAL (
    SELECT value FROM settings WHERE key = 'ignored_alerts:' || s.id LIMIT 1
) t;

-- name: list_all_ignored_alerts
-- With the sets that exist, by set.
SELECT a.id AS action_set_id, a.project, a.name, t.value
FROM action_sets a
CROSS JOIN LATERAL (
    SELECT value FROM settings WHERE key = 'ignored_alerts:' || a.id LIMIT 1
) t
ORDER BY a.id;

-- name: add_ignored_alert
INSERT INTO settings (key, value) VALUES ('ignored_alerts:' || %(action_set_id)s::int, %(alert)s::jsonb)
ON CONFLICT (key) DO UPDATE SET value = settings.value || excluded.value;

-- name: delete_ignored_alert
UPDATE settings SET value = value - %(correlation)s::text
WHERE key = 'ignored_alerts:' || %(action_set_id)s::int AND value ? %(correlation)s::text;

-- name: delete_ignored_alerts
-- Of a set that is deleted.
DELETE FROM settings WHERE key = 'ignored_alerts:' || %(action_set_id)s::int;

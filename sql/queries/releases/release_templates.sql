-- Templates of releases that users created. Built-in ones are in the program.

-- name: lock_release_templates
-- Serializes changes, so that their limit holds.
SELECT pg_advisory_xact_lock(hashtext('release_templates'));

-- name: list_release_templates
SELECT name, description, steps, watch_minutes, created_at, created_by_user_id
FROM release_templates
ORDER BY name;

-- name: put_release_templates
INSERT INTO release_templates (name, description, steps, watch_minutes, created_by_user_id)
SELECT name, description, steps, "watchMinutes", %(created_by_user_id)s
FROM jsonb_to_recordset(%(items)s::jsonb)
     AS x (name text, description text, steps jsonb, "watchMinutes" integer)
ON CONFLICT (name) DO UPDATE
SET description = excluded.description, steps = excluded.steps,
    watch_minutes = excluded.watch_minutes;

-- name: delete_release_template
DELETE FROM release_templates WHERE name = %(name)s;

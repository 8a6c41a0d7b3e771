-- Action sets with their actions. Writers hold lock_action_sets.

-- name: lock_action_sets
-- Serializes changes, so that limits and unique names hold.
SELECT pg_advisory_xact_lock(hashtext('action_sets'));

-- name: insert_action_set
INSERT INTO action_sets (project, name, description, enabled, actor_id, endpoint_id, schedule,
                         filters, settings, created_by_user_id)
VALUES (%(project)s, %(name)s, %(description)s, %(enabled)s, %(actor_id)s, %(endpoint_id)s,
        %(schedule)s::jsonb, %(filters)s::jsonb, %(settings)s::jsonb, %(created_by_user_id)s)
RETURNING id;

-- name: insert_actions
-- One action for each item of a JSON array, in its order.
INSERT INTO actions (action_set_id, sort_order, kind, params, created_by_user_id)
SELECT %(action_set_id)s, "sortOrder", action, "executionParams", %(created_by_user_id)s
FROM json_to_recordset(%(actions)s) AS a ("sortOrder" int, action text, "executionParams" jsonb);

-- name: delete_actions
DELETE FROM actions WHERE action_set_id = %(action_set_id)s;

-- name: list_action_sets
-- All sets, the sets of a project, some sets, or the sets that enabled endpoints trigger, disabled ones only if
-- their alerts can resolve: a parameter that is NULL doesn't filter. One statement, so that the JSON of the
-- actions is assembled in one place.
-- A disabled endpoint triggers nothing, not even for signals that are already in the queue.
SELECT s.id, s.project, s.name, s.description, s.enabled, s.has_run_once, s.actor_id, s.endpoint_id,
       s.schedule, s.due_at, s.filters, s.settings, s.version, s.created_at, s.created_by_user_id,
       coalesce((SELECT json_agg(json_build_object(
                     'id', a.id, 'sortOrder', a.sort_order, 'action', a.kind,
                     'executionParams', a.params,
                     'createdAt', to_char(a.created_at AT TIME ZONE 'UTC',
                                          'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
                     'createdByUserId', a.created_by_user_id) ORDER BY a.sort_order, a.id)
                 FROM actions a WHERE a.action_set_id = s.id), '[]') AS actions
FROM action_sets s
WHERE (%(project)s::text IS NULL OR s.project = %(project)s)
  AND (%(ids)s::int[] IS NULL OR s.id = ANY(%(ids)s))
  AND (%(sources)s::int[] IS NULL OR (s.endpoint_id = ANY(%(sources)s)
       AND (s.enabled OR s.settings ? 'restoreWhenResolved')
       AND EXISTS (SELECT 1 FROM signal_endpoints e WHERE e.id = s.endpoint_id AND e.enabled)))
ORDER BY s.project, s.name, s.id;

-- name: list_of_endpoint
-- The sets that an endpoint triggers, enabled or not, without their actions.
SELECT id, project, name, enabled, filters
FROM action_sets
WHERE endpoint_id = %(endpoint_id)s
ORDER BY project, name;

-- part: now
-- The time of the database, except in tests.
coalesce(%(now)s::timestamptz, now())

-- name: lock_due_sets
-- The sets whose schedule is due; after waiting for the transaction of another process or a change by a user, it
-- checks the set again.
SELECT id, {{now}} AS now
FROM action_sets
WHERE endpoint_id = 0 AND enabled AND due_at <= {{now}}
ORDER BY due_at, id
LIMIT %(limit)s
FOR UPDATE;

-- name: set_due_times
UPDATE action_sets s
SET due_at = d.due_at, version = version + 1
FROM unnest(%(ids)s::int[], %(due_ats)s::timestamptz[]) AS d (id, due_at)
WHERE s.id = d.id;

-- name: list_scheduled
-- The sets that will run, of a project or of all, without their options.
SELECT s.id, s.project, s.name, s.schedule, s.endpoint_id, s.due_at, s.created_by_user_id,
       (SELECT u.username FROM users u WHERE u.id = s.created_by_user_id) AS created_by,
       (SELECT json_agg(json_build_object('action', a.kind, 'executionParams', a.params)
                        ORDER BY a.sort_order, a.id)
        FROM actions a WHERE a.action_set_id = s.id) AS actions
FROM action_sets s
WHERE s.endpoint_id = 0 AND s.enabled AND s.due_at IS NOT NULL
  AND (%(project)s::text IS NULL OR s.project = %(project)s)
ORDER BY s.due_at, s.id
LIMIT %(limit)s;

-- name: delete_done_sets
-- Sets whose only time has passed, when retention has deleted their runs.
DELETE FROM action_sets
WHERE id IN (
    SELECT s.id FROM action_sets s
    WHERE s.endpoint_id = 0 AND s.due_at IS NULL AND s.schedule ? 'at'
      AND NOT EXISTS (SELECT 1 FROM action_runs r WHERE r.action_set_id = s.id)
    LIMIT %(chunk)s
);

-- name: count_action_sets
-- Excludes sets that have run at their only time.
SELECT count(*) FROM action_sets
WHERE project = %(project)s AND NOT (endpoint_id = 0 AND due_at IS NULL AND schedule ? 'at');

-- name: update_action_set
UPDATE action_sets
SET name = %(name)s, description = %(description)s, enabled = %(enabled)s,
    actor_id = %(actor_id)s, endpoint_id = %(endpoint_id)s, schedule = %(schedule)s::jsonb,
    filters = %(filters)s::jsonb, settings = %(settings)s::jsonb, version = version + 1
WHERE id = %(id)s;

-- name: set_enabled
UPDATE action_sets SET enabled = %(enabled)s, version = version + 1 WHERE id = %(id)s;

-- name: set_has_run_once
UPDATE action_sets SET has_run_once = %(has_run_once)s WHERE id = ANY(%(ids)s);

-- name: delete_action_set
DELETE FROM action_sets WHERE id = %(id)s;

-- name: list_limited_triggers
-- The burst of an endpoint without one is its rate or, without a rate too, the default burst.
SELECT e.name
FROM signal_endpoints e
WHERE e.enabled
  AND EXISTS (SELECT 1 FROM action_sets s WHERE s.endpoint_id = e.id AND s.enabled)
  AND coalesce(e.options->'rateLimit'->>'status', '429') = '429'
  AND coalesce((e.options->'rateLimit'->>'burst')::float,
               CASE WHEN e.options->'rateLimit' ? 'perSecond'
                    THEN greatest(1, (e.options->'rateLimit'->>'perSecond')::float) END,
               %(default_burst)s) < %(min_burst)s
ORDER BY e.name;

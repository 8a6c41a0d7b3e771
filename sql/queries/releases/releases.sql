-- Releases. Written by commands and the job under the lock of revisions, deleted with their flag or
-- environment. Their events are in the audit log.

-- name: insert_release
-- With its guards.
WITH release AS (
    INSERT INTO releases (feature, environment, strategy_id, plan, warnings, state, rollout,
                          start_rollout, content, start_at, propagation_seconds, created_at,
                          created_by, created_by_user_id)
    VALUES (%(feature)s, %(environment)s, %(strategy_id)s, %(plan)s::jsonb, %(warnings)s::jsonb,
            'scheduled', %(rollout)s, %(rollout)s, '{}', %(start_at)s,
            %(propagation_seconds)s, %(now)s, %(created_by)s, %(created_by_user_id)s)
    RETURNING id
), {{releases/release_guards.new_guards}}
SELECT id FROM release;

-- part: columns
SELECT r.id, r.feature, r.environment, f.project, r.strategy_id, r.plan, r.warnings, r.state,
       r.held_by, r.held_reason, r.held_guard_id, r.step, r.rollout, r.start_rollout,
       r.rolled_back_from, r.start_at, r.entered_at, r.due_at, r.evidence_at, r.resumed_at,
       r.propagation_seconds, r.auto_resumes, r.created_at, r.created_by, r.created_by_user_id,
       r.finished_at

-- part: rule
-- The result of the alert rule `a` of a guard, and its condition now.
jsonb_build_object('definition', CASE WHEN a.id = g.rule_id THEN jsonb_set(g.definition, '{rule}', a.condition)
                                      ELSE g.definition END,
                   'value', a.value, 'samples', a.samples, 'covers_from', a.window_from, 'covers_to', a.window_to,
                   'limit', coalesce(a.condition ->> 'above', a.condition ->> 'below')::double precision,
                   'rule_state', a.state,
                   'rule_reason', a.reason || coalesce(' Warning: ' || CASE WHEN a.value IS NOT NULL
                                                                            THEN a.last_error END, ''))

-- name: list_releases
-- Newest first; a parameter that is NULL doesn't filter. `last_…` is the event that put the release into its
-- state, if there is one.
{{columns}},
       guards.items AS guards, coalesce(s.enabled, false) AS is_on,
       (SELECT t.parameters ->> 'rollout' FROM feature_strategies t WHERE t.id = r.strategy_id) AS present_rollout,
       last.created_at AS last_at, last.created_by AS last_actor, last.created_by_user_id AS last_actor_id,
       last.data ->> 'reason' AS last_reason, last.data ->> 'guard' AS last_guard,
       (last.data #>> '{guard,signalId}')::bigint AS last_signal_id
FROM releases r
JOIN features f ON f.name = r.feature
LEFT JOIN feature_environments s ON s.feature = r.feature AND s.environment = r.environment
CROSS JOIN LATERAL (
    SELECT coalesce(json_agg(to_jsonb(g) || {{rule}} || jsonb_build_object('endpoint', e.name)
                             ORDER BY g.position), '[]') AS items
    FROM release_guards g
    LEFT JOIN signal_endpoints e ON e.id = g.endpoint_id
    LEFT JOIN alert_rules a ON a.guard_id = g.id OR a.id = g.rule_id
    WHERE g.release_id = r.id
) guards
LEFT JOIN LATERAL (
    SELECT v.created_at, v.created_by, v.created_by_user_id, v.data
    FROM events v
    WHERE v.type LIKE 'release-%%'
      AND v.data -> 'releaseId' = to_jsonb(r.id)
      AND v.type = 'release-' || CASE r.state WHEN 'rolledBack' THEN 'rolled-back' ELSE r.state END
    ORDER BY v.id DESC
    LIMIT 1
) last ON true
WHERE (%(id)s::bigint IS NULL OR r.id = %(id)s)
  AND (%(feature)s::text IS NULL OR r.feature = %(feature)s)
  AND (%(environment)s::text IS NULL OR r.environment = %(environment)s)
  AND (%(project)s::text IS NULL OR f.project = %(project)s)
  AND (%(text)s::text IS NULL OR position(lower(%(text)s) IN lower(concat_ws(' ', r.feature, r.environment))) > 0)
  AND (%(last_ended_after)s::timestamptz IS NULL
       OR (r.finished_at > %(last_ended_after)s
           AND NOT EXISTS (SELECT FROM releases n
                           WHERE n.feature = r.feature AND n.environment = r.environment AND n.id > r.id)))
  AND (%(states)s::text[] IS NULL OR r.state = ANY(%(states)s))
ORDER BY r.id DESC
LIMIT %(limit)s;

-- name: list_moving_states
-- Where releases are running or on hold.
SELECT feature, environment, state, rollout FROM releases WHERE state IN ('running', 'held');

-- name: count_releases
-- Of a project, or of all.
SELECT r.state, count(*) AS count
FROM releases r
JOIN features f ON f.name = r.feature
WHERE %(project)s::text IS NULL OR f.project = %(project)s
GROUP BY r.state;

-- part: now
-- The time of the database, except in tests.
coalesce(%(now)s::timestamptz, now())

-- name: list_active_releases, planned once
-- The releases that have not ended, all or with these IDs, as decisions need them: the row, its guards, and the present
-- content of the flag.
{{columns}}, r.content,
       guards.items AS guards,
       f.archived_at IS NOT NULL AS is_archived,
       EXISTS (SELECT FROM project_environments p
               WHERE p.project = f.project AND p.environment = r.environment) AS is_linked,
       jsonb_build_object('enabled', coalesce(s.enabled, false),
                          'strategies', strategies.items) AS present,
       (SELECT value FROM settings WHERE key = 'emergency') AS emergency, {{now}} AS now
FROM releases r
JOIN features f ON f.name = r.feature
LEFT JOIN feature_environments s ON s.feature = r.feature AND s.environment = r.environment
CROSS JOIN LATERAL (
    SELECT coalesce(jsonb_object_agg(t.id, jsonb_build_object(
               'name', t.name, 'disabled', t.disabled, 'parameters', t.parameters,
               'constraints', t.constraints, 'variants', t.variants,
               'segments', to_jsonb(ARRAY(SELECT g.segment_id FROM strategy_segments g
                                          WHERE g.strategy_id = t.id
                                          ORDER BY g.segment_id)))), '{}') AS items
    FROM feature_strategies t
    WHERE t.feature = r.feature AND t.environment = r.environment
) strategies
CROSS JOIN LATERAL (
    SELECT coalesce(json_agg(to_jsonb(g) || {{rule}} || jsonb_build_object(
               'endpoint', e.name, 'template', e.template,
               'endpoint_enabled', coalesce(e.enabled, false),
               'is_behind', EXISTS (SELECT FROM signal_queue q
                                    WHERE q.endpoint_id = g.endpoint_id
                                      AND q.queued_at < now() - interval '5 seconds'))
               ORDER BY g.position), '[]') AS items
    FROM release_guards g
    LEFT JOIN signal_endpoints e ON e.id = g.endpoint_id
    LEFT JOIN alert_rules a ON a.guard_id = g.id OR a.id = g.rule_id
    WHERE g.release_id = r.id
) guards
WHERE r.id = ANY(coalesce(%(ids)s::bigint[], ARRAY(
          SELECT id FROM releases WHERE state IN ('scheduled', 'running', 'held'))))
ORDER BY r.id;

-- name: save_release
-- A release, {} if it doesn't change, and the results of its guards. The
-- rules of guards that no longer watch are disabled. Locks guards in the order of IDs.
WITH saved AS (
    UPDATE releases r
    SET state = x.state, held_by = x.held_by, held_reason = x.held_reason,
        held_guard_id = x.held_guard_id, step = x.step, rollout = x.rollout,
        rolled_back_from = x.rolled_back_from, content = x.content, entered_at = x.entered_at,
        due_at = x.due_at, evidence_at = x.evidence_at, resumed_at = x.resumed_at,
        propagation_seconds = x.propagation_seconds, auto_resumes = x.auto_resumes,
        finished_at = x.finished_at, start_rollout = x.start_rollout
    FROM jsonb_to_record(%(release)s::jsonb)
         AS x (id bigint, state text, held_by text, held_reason text, held_guard_id bigint,
               step integer, rollout integer, rolled_back_from integer, content jsonb,
               entered_at timestamptz, due_at timestamptz, evidence_at timestamptz,
               resumed_at timestamptz, propagation_seconds integer, auto_resumes integer,
               finished_at timestamptz, start_rollout integer)
    WHERE r.id = x.id
), items AS (
    SELECT id, state, since, reason, keys, signal_ids, ended, is_caught_up, is_watching
    FROM jsonb_to_recordset(%(guards)s::jsonb)
         AS x (id bigint, state text, since timestamptz, reason text, keys jsonb, signal_ids jsonb,
               ended jsonb, is_caught_up boolean, is_watching boolean)
), locked AS (
    SELECT id FROM release_guards
    WHERE id = ANY(ARRAY(SELECT id FROM items))
    ORDER BY id
    FOR UPDATE
), ended AS (
    UPDATE alert_rules
    SET enabled = false
    WHERE guard_id = ANY(ARRAY(SELECT id FROM items WHERE NOT is_watching)) AND enabled
)
UPDATE release_guards g
SET state = x.state, since = x.since, reason = x.reason, keys = x.keys, signal_ids = x.signal_ids,
    ended = x.ended, is_caught_up = x.is_caught_up, is_watching = x.is_watching
FROM items x
JOIN locked USING (id)
WHERE g.id = x.id;

-- name: list_release_events
-- Oldest first.
SELECT id, created_at, type, created_by, created_by_user_id, data
FROM events
WHERE type LIKE 'release-%%' AND data -> 'releaseId' = to_jsonb(%(release_id)s::bigint)
ORDER BY id;

-- name: list_guard_events
-- Changes of the states of guards, oldest first.
SELECT (data #>> '{guard,id}')::bigint AS guard_id, type, created_at
FROM events
WHERE type LIKE 'release-%%' AND data -> 'releaseId' = to_jsonb(%(release_id)s::bigint)
  AND type IN ('release-guard-fired', 'release-guard-unknown', 'release-guard-ok')
ORDER BY id;

-- part: propagation_seconds
-- Until every SDK has a change: the longest interval of those of the last hour, 0 if all of them stream.
coalesce((SELECT max(seconds) FROM poll_intervals
          WHERE environment = %(environment)s AND seen_at > now() - interval '1 hour'), 15)

-- name: find_propagation_seconds
SELECT {{propagation_seconds}};

-- name: find_surroundings
-- What a new release needs of its flag, none if the project doesn't have it or the environment.
SELECT {{now}} AS now, {{propagation_seconds}} AS propagation_seconds,
       f.archived_at IS NOT NULL AS is_archived, coalesce(s.enabled, false) AS is_enabled,
       EXISTS (SELECT FROM releases
               WHERE feature = %(feature)s AND environment = %(environment)s
                 AND state IN ('scheduled', 'running', 'held')) AS has_active
FROM features f
JOIN project_environments p ON p.project = f.project AND p.environment = %(environment)s
LEFT JOIN feature_environments s ON s.feature = f.name AND s.environment = p.environment
WHERE f.name = %(feature)s AND f.project = %(project)s;

-- name: store_poll_intervals
INSERT INTO poll_intervals (environment, seconds)
SELECT environment, seconds
FROM json_to_recordset(%(items)s::json) AS x (environment text, seconds integer)
ON CONFLICT (environment, seconds) DO UPDATE SET seen_at = now();

-- name: delete_old_poll_intervals
DELETE FROM poll_intervals WHERE seen_at < now() - interval '1 day';

-- name: delete_old_releases
-- Deletes releases that have ended, with their guards.
DELETE FROM releases
WHERE id IN (
    SELECT id FROM releases
    WHERE finished_at < now() - make_interval(days => %(days)s)
    LIMIT %(chunk)s
);

-- name: find_last_editor
-- The user who last changed a flag in an environment.
SELECT created_by, created_by_user_id
FROM events
WHERE feature_name = %(feature)s AND environment = %(environment)s
  AND type LIKE 'feature-%%'
ORDER BY id DESC
LIMIT 1;

-- name: read_time
SELECT {{now}};

-- name: find_release_news, planned once
-- The values that the job checks before it reads all releases: whether flags or the emergency have changed,
-- whether a step has become due after `since`, and whether a guard is new. Also the number of active releases, for the menu.
SELECT (SELECT id FROM revisions WHERE topic = '') AS generation,
       (SELECT value FROM settings WHERE key = 'emergency') AS emergency, {{now}} AS now,
       coalesce(bool_or(true), false) AS has_active,
       count(*) FILTER (WHERE state = 'running') AS running_count,
       count(*) FILTER (WHERE state = 'held') AS held_count,
       coalesce(bool_or(coalesce(due_at, start_at) <= {{now}}
                        AND (%(since)s::timestamptz IS NULL
                             OR coalesce(due_at, start_at) > %(since)s)
                        OR EXISTS (SELECT FROM release_guards g
                                   WHERE g.release_id = releases.id AND NOT g.is_caught_up)), false) AS is_due
FROM releases
WHERE state IN ('scheduled', 'running', 'held');

-- Alert rules. Written by admins, and with the guards of releases; jobs write their states. Deleted with their
-- endpoint or guard.

-- name: lock_alert_rules
-- Serializes creations, so that concurrent requests can't exceed the limit.
SELECT pg_advisory_xact_lock(hashtext('alert_rules'));

-- name: insert_alert_rule
-- Returns no row if the limit is reached. Call under lock_alert_rules.
INSERT INTO alert_rules (name, endpoint_id, enabled, condition, created_by_user_id, since)
SELECT %(name)s, %(endpoint_id)s, %(enabled)s, %(condition)s::jsonb, %(created_by_user_id)s,
       %(now)s
WHERE (SELECT count(*) FROM alert_rules WHERE guard_id IS NULL) < %(limit)s
RETURNING id;

-- part: silence
r.silent_endpoint_id, silent.name AS silent_endpoint, r.last_signal_id, r.last_signal_at, r.alert_key

-- name: list_alert_rules
-- All rules by name, or the one with this ID, without those of guards.
SELECT r.id, r.name, r.endpoint_id, r.enabled, r.condition, r.created_at, r.created_by_user_id, r.state, r.since,
       r.streak, r.has_fired, r.unknown_since, r.value, r.samples, r.window_from, r.window_to, r.reason, r.evaluated_at,
       r.last_error, {{silence}}
FROM alert_rules r
LEFT JOIN signal_endpoints silent ON silent.id = r.silent_endpoint_id
WHERE r.guard_id IS NULL AND (%(id)s::bigint IS NULL OR r.id = %(id)s)
ORDER BY r.name;

-- name: lock_alert_rule
-- Waits for its evaluation.
SELECT id
FROM alert_rules
WHERE id = %(id)s AND guard_id IS NULL
FOR UPDATE;

-- name: update_alert_rule
-- The job evaluates the rule when it looks next.
UPDATE alert_rules
SET name = %(name)s, endpoint_id = %(endpoint_id)s, enabled = %(enabled)s, condition = %(condition)s::jsonb,
    due_at = 'epoch', leased_until = NULL
WHERE id = %(id)s;

-- name: delete_alert_rule
DELETE FROM alert_rules WHERE id = %(id)s;

-- part: now
-- The time of the database, except in tests.
coalesce(%(now)s::timestamptz, now())

-- part: settings_and_state
-- `is_watched` by a release.
r.id, r.name, r.endpoint_id, r.guard_id, r.enabled, r.condition, r.due_at, r.state, r.since,
       r.streak, r.has_fired, r.unknown_since, r.value, r.samples, r.window_from, r.window_to, r.reason, r.evaluated_at,
       r.last_error,
       r.guard_id IS NOT NULL
           OR EXISTS (SELECT FROM release_guards w WHERE w.rule_id = r.id AND w.is_watching) AS is_watched

-- part: columns
SELECT {{settings_and_state}}, {{silence}}
FROM alert_rules r
LEFT JOIN signal_endpoints silent ON silent.id = r.silent_endpoint_id

-- part: due_and_enabled
-- A rule that is due later than after its interval is due after a step of the clock.
r.enabled
  AND (r.due_at <= {{now}}
       OR r.due_at > {{now}} + make_interval(secs => coalesce((r.condition ->> 'everySeconds')::integer, 30)))
  AND coalesce((SELECT e.enabled FROM signal_endpoints e WHERE e.id = r.endpoint_id), true)

-- name: lock_evaluation
-- Only one process at a time evaluates rules on impact metrics and silence; the others skip them.
SELECT pg_try_advisory_xact_lock(hashtext('alert_rule_evaluation'));

-- name: list_due_alert_rules
-- The enabled rules on impact metrics and silence, of enabled endpoints and of guards, that are due. Rules with the error
-- `too_slow` come last, and of the others those of guards first.
{{columns}}
WHERE r.condition -> 'source' ->> 'kind' <> 'prometheus'
  AND coalesce(silent.enabled, true)
  AND {{due_and_enabled}}
ORDER BY r.last_error IS NOT DISTINCT FROM %(too_slow)s, r.guard_id IS NULL, r.due_at, r.id
LIMIT %(limit)s;

-- name: list_silent_alert_rules
{{columns}}
WHERE r.silent_endpoint_id = ANY(%(endpoint_ids)s)
  AND r.guard_id IS NULL AND r.enabled AND r.state <> 'ok'
ORDER BY r.id;

-- name: lease_due_alert_rules
-- The rules on metric sources that are due, unless another rule on their source is leased. Call it under
-- lock_metric_sources. A lease that ends later than a new one began before a step of the clock.
UPDATE alert_rules l
SET leased_until = {{now}} + interval '2 minutes'
FROM alert_rules r
LEFT JOIN release_guards g ON g.id = r.guard_id
LEFT JOIN releases x ON x.id = g.release_id
LEFT JOIN features f ON f.name = x.feature
WHERE l.id = r.id
  AND r.id = ANY(ARRAY(
      SELECT r.id
      FROM alert_rules r
      WHERE r.condition -> 'source' ->> 'kind' = 'prometheus'
        AND r.condition -> 'source' ->> 'source' <> ALL(ARRAY(
            SELECT o.condition -> 'source' ->> 'source'
            FROM alert_rules o
            WHERE o.enabled AND o.leased_until > {{now}} AND o.leased_until <= {{now}} + interval '2 minutes'
        ))
        AND {{due_and_enabled}}
      FOR UPDATE OF r SKIP LOCKED
  ))
RETURNING {{settings_and_state}}, {{now}} AS now, l.leased_until, x.feature, x.environment, f.project;

-- name: end_alert_rule_leases
UPDATE alert_rules
SET leased_until = NULL
WHERE id = ANY(%(ids)s)
  AND leased_until = %(until)s;

-- name: lock_many_alert_rules
-- The enabled ones of these rules with this lease or none, in the order of their IDs, until the transaction ends. A
-- change of a rule has ended its lease.
SELECT {{settings_and_state}}, {{silence}}, {{now}} AS now
FROM alert_rules r
LEFT JOIN signal_endpoints silent ON silent.id = r.silent_endpoint_id
WHERE r.id = ANY(%(ids)s) AND r.enabled AND r.leased_until IS NOT DISTINCT FROM %(leased_until)s
ORDER BY r.id
FOR NO KEY UPDATE OF r;

-- name: save_alert_rule_states
UPDATE alert_rules r
SET state = n.state, since = n.since, streak = n.streak, has_fired = n.has_fired, unknown_since = n.unknown_since,
    value = n.value, samples = n.samples, window_from = n.window_from, window_to = n.window_to, reason = n.reason,
    evaluated_at = n.evaluated_at, last_error = n.last_error, due_at = coalesce(n.due_at, r.due_at),
    last_signal_id = n.last_signal_id, last_signal_at = n.last_signal_at, alert_key = n.alert_key, leased_until = NULL
FROM json_to_recordset(%(items)s)
     AS n (id integer, state text, since timestamptz, streak integer, has_fired boolean, unknown_since timestamptz,
           value double precision, samples double precision, window_from timestamptz, window_to timestamptz,
           reason text, evaluated_at timestamptz, last_error text, due_at timestamptz, last_signal_id bigint,
           last_signal_at timestamptz, alert_key text)
WHERE r.id = n.id;

-- Alert rules: conditions on impact metrics. Written by admins; the job `alert rules` writes their states. Deleted
-- with their endpoint.

-- name: lock_alert_rules
-- Serializes creations, so that concurrent requests can't exceed the limit.
SELECT pg_advisory_xact_lock(hashtext('alert_rules'));

-- name: insert_alert_rule
-- Returns no row if the limit is reached. Call under lock_alert_rules.
INSERT INTO alert_rules (name, endpoint_id, enabled, condition, created_by_user_id, since)
SELECT %(name)s, %(endpoint_id)s, %(enabled)s, %(condition)s::jsonb, %(created_by_user_id)s,
       %(now)s
WHERE (SELECT count(*) FROM alert_rules) < %(limit)s
RETURNING id;

-- name: list_alert_rules
-- All rules by name, or the one with this ID.
SELECT id, name, endpoint_id, enabled, condition, created_at, created_by_user_id, state, since,
       streak, has_fired, unknown_since, value, samples, window_from, window_to, reason, evaluated_at, last_error
FROM alert_rules
WHERE %(id)s::bigint IS NULL OR id = %(id)s
ORDER BY name;

-- name: lock_alert_rule
-- Waits for its evaluation.
SELECT id
FROM alert_rules
WHERE id = %(id)s
FOR UPDATE;

-- name: update_alert_rule
-- The job evaluates the rule when it looks next.
UPDATE alert_rules
SET name = %(name)s, endpoint_id = %(endpoint_id)s, enabled = %(enabled)s, condition = %(condition)s::jsonb,
    due_at = 'epoch'
WHERE id = %(id)s;

-- name: delete_alert_rule
DELETE FROM alert_rules WHERE id = %(id)s;

-- part: due_and_enabled
-- A rule that is due later than after a lease and its interval is due after a step of the clock.
r.enabled
  AND (r.due_at <= %(now)s
       OR r.due_at > %(now)s + make_interval(mins => 2, secs => (r.condition ->> 'everySeconds')::integer))
  AND (SELECT e.enabled FROM signal_endpoints e WHERE e.id = r.endpoint_id)

-- name: claim_due_alert_rules
-- The enabled rules on impact metrics of enabled endpoints that are due, locked until the transaction ends;
-- other processes skip them. Those with the error `too_slow` come last.
SELECT r.id, r.name, r.endpoint_id, r.enabled, r.condition, r.state, r.since, r.streak, r.has_fired, r.unknown_since,
       r.value, r.samples, r.window_from, r.window_to, r.reason, r.evaluated_at, r.last_error
FROM alert_rules r
WHERE r.condition -> 'source' ->> 'kind' = 'impactMetric'
  AND {{due_and_enabled}}
ORDER BY r.last_error IS NOT DISTINCT FROM %(too_slow)s, r.due_at, r.id
LIMIT %(limit)s
FOR UPDATE OF r SKIP LOCKED;

-- name: lease_due_alert_rules
-- Like claim_due_alert_rules, for rules on metric sources that are not `busy`: they are due again at `until`,
-- in case the process ends.
UPDATE alert_rules
SET due_at = %(until)s
WHERE id = ANY(ARRAY(
    SELECT r.id
    FROM alert_rules r
    WHERE r.condition -> 'source' ->> 'kind' = 'prometheus'
      AND r.condition -> 'source' ->> 'source' <> ALL(%(busy)s)
      AND {{due_and_enabled}}
    FOR UPDATE OF r SKIP LOCKED
))
RETURNING id, condition, evaluated_at;

-- name: lock_leased_alert_rules
-- Skips rules with another `due_at`, which a change of the rule and another lease set.
SELECT id, name, endpoint_id, enabled, condition, state, since, streak, has_fired, unknown_since, value, samples,
       window_from, window_to, reason, evaluated_at, last_error
FROM alert_rules
WHERE id = ANY(%(ids)s)
  AND due_at = %(until)s
ORDER BY id
FOR UPDATE;

-- name: return_leased_alert_rules
UPDATE alert_rules
SET due_at = %(now)s
WHERE id = ANY(%(ids)s)
  AND due_at = %(until)s;

-- name: save_alert_rule_states
UPDATE alert_rules r
SET state = n.state, since = n.since, streak = n.streak, has_fired = n.has_fired, unknown_since = n.unknown_since,
    value = n.value, samples = n.samples, window_from = n.window_from, window_to = n.window_to, reason = n.reason,
    evaluated_at = n.evaluated_at, last_error = n.last_error, due_at = coalesce(n.due_at, r.due_at)
FROM json_to_recordset(%(items)s)
     AS n (id integer, state text, since timestamptz, streak integer, has_fired boolean, unknown_since timestamptz,
           value double precision, samples double precision, window_from timestamptz, window_to timestamptz,
           reason text, evaluated_at timestamptz, last_error text, due_at timestamptz)
WHERE r.id = n.id;

-- Guards of releases and their results. Written with their release and when they are evaluated.

-- part: new_guards
-- The guards of the row of `release`. `rule` has the columns of the alert rule of a guard.
items AS (
    SELECT position, kind, endpoint_id, definition, state, reason, keys, signal_ids, ended, rule, rule_id
    FROM jsonb_to_recordset(%(items)s::jsonb)
         AS x (position integer, kind text, endpoint_id integer, definition jsonb, state text, reason text, keys jsonb,
               signal_ids jsonb, ended jsonb, rule jsonb, rule_id integer)
), guards AS (
    INSERT INTO release_guards (release_id, position, kind, endpoint_id, definition, state, since, reason, keys,
                                signal_ids, ended, is_caught_up, rule_id)
    SELECT release.id, position, kind, endpoint_id, definition, state, %(now)s, reason, keys, signal_ids, ended,
           kind <> 'signal', rule_id
    FROM items
    CROSS JOIN release
    ORDER BY position
    RETURNING id, position
), rules AS (
    INSERT INTO alert_rules (guard_id, enabled, condition, due_at, state, since, streak, has_fired, unknown_since,
                             value, samples, window_from, window_to, reason, evaluated_at, last_error)
    SELECT g.id, true, items.definition -> 'rule', r.*
    FROM items
    JOIN guards g USING (position)
    CROSS JOIN LATERAL jsonb_to_record(items.rule)
        AS r (due_at timestamptz, state text, since timestamptz, streak integer, has_fired boolean,
              unknown_since timestamptz, value double precision, samples double precision, window_from timestamptz,
              window_to timestamptz, reason text, evaluated_at timestamptz, last_error text)
    WHERE items.rule IS NOT NULL
)

-- name: insert_guards
WITH release AS (
    SELECT %(release_id)s::bigint AS id
), {{new_guards}}
SELECT id FROM release;

-- name: lock_guards
-- In the order of IDs, like the statements that update guards.
SELECT id FROM release_guards
WHERE release_id = %(release_id)s
ORDER BY id
FOR UPDATE;

-- name: replace_guards
-- Keeps the guards of `positions` at their new positions, and deletes the others.
WITH kept AS (
    SELECT key::bigint AS id, value::integer AS position
    FROM jsonb_each_text(%(positions)s::jsonb)
), deleted AS (
    DELETE FROM release_guards
    WHERE release_id = %(release_id)s AND id NOT IN (SELECT id FROM kept)
)
UPDATE release_guards g
SET position = kept.position
FROM kept
WHERE g.release_id = %(release_id)s AND g.id = kept.id;

-- name: list_releases_of_rules
SELECT DISTINCT r.id AS rule_id, g.release_id
FROM alert_rules r
JOIN release_guards g ON g.id = r.guard_id OR g.rule_id = r.id
WHERE r.id = ANY(%(rule_ids)s) AND g.is_watching;

-- name: list_signal_guards
-- The guards of active releases that watch these endpoints.
SELECT g.id, g.release_id, g.endpoint_id, g.definition, e.name AS endpoint
FROM release_guards g
JOIN signal_endpoints e ON e.id = g.endpoint_id
WHERE g.endpoint_id = ANY(%(endpoint_ids)s) AND g.kind = 'signal' AND g.is_watching
ORDER BY g.release_id, g.position;

-- name: list_recent_signals
-- Newest first, as many as `limit` and `max_bytes` allow.
SELECT id, payload, created_at
FROM (
    SELECT id, payload, created_at, sum(payload_bytes) OVER (ORDER BY id DESC) AS bytes
    FROM signals
    WHERE endpoint_id = %(endpoint_id)s
      AND created_at > greatest(%(since)s::timestamptz, now() - %(time)s::interval)
    ORDER BY id DESC
    LIMIT %(limit)s
) newest
WHERE bytes <= %(max_bytes)s
ORDER BY id DESC;

-- name: list_endpoints
SELECT e.id, e.name, e.enabled, e.template, e.options, now() AS now
FROM signal_endpoints e
WHERE e.id = ANY(%(ids)s);

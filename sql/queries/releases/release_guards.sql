-- Guards of releases and their results. Written with their release and when they are evaluated.

-- name: insert_guards
INSERT INTO release_guards (release_id, position, kind, endpoint_id, definition, state, since,
                            reason, keys, signal_ids, is_caught_up, rule_state, rule_reason, due_at, query_due_at, value,
                            "limit", samples, covers_from, covers_to)
SELECT %(release_id)s, position, kind, endpoint_id, definition, state, %(now)s, reason, keys,
       signal_ids, kind <> 'signal', rule_state, rule_reason, due_at, query_due_at, value, "limit", samples, covers_from,
       covers_to
FROM jsonb_to_recordset(%(items)s::jsonb)
     AS x (position integer, kind text, endpoint_id integer, definition jsonb, state text,
           reason text, keys jsonb, signal_ids jsonb, rule_state jsonb, rule_reason text, due_at timestamptz,
           query_due_at timestamptz, value double precision, "limit" double precision, samples double precision,
           covers_from timestamptz, covers_to timestamptz)
ORDER BY position;

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

-- part: locked
-- In the order of IDs.
WITH locked AS (
    SELECT id FROM release_guards
    WHERE id = ANY(ARRAY(SELECT (item ->> 'id')::bigint
                         FROM jsonb_array_elements(%(items)s::jsonb) item))
    ORDER BY id
    FOR UPDATE
)

-- name: update_guards
{{locked}}
UPDATE release_guards g
SET state = x.state, since = x.since, reason = x.reason, keys = x.keys, signal_ids = x.signal_ids,
    is_caught_up = x.is_caught_up,
    is_watching = x.is_watching
FROM jsonb_to_recordset(%(items)s::jsonb)
     AS x (id bigint, state text, since timestamptz, reason text, keys jsonb,
           signal_ids jsonb, is_caught_up boolean, is_watching boolean)
JOIN locked USING (id)
WHERE g.id = x.id;

-- name: lock_evaluation
-- Only one process at a time evaluates rules; the others skip them.
SELECT pg_try_advisory_xact_lock(hashtext('release_guards'));

-- name: list_due_rules
-- A rule that is due later than after its interval is due after a step of the clock. Those with the reason
-- `too_slow` come last.
SELECT id, release_id, definition, state, rule_state, rule_reason
FROM release_guards
WHERE is_watching
  AND (due_at <= %(now)s
       OR due_at > %(now)s + make_interval(secs => (definition -> 'rule' ->> 'everySeconds')::integer))
ORDER BY rule_reason IS NOT DISTINCT FROM %(too_slow)s, due_at, id
LIMIT %(limit)s;

-- name: save_readings
-- Writes columns that update_guards doesn't write, so that an evaluation needs no lock of revisions. Skips
-- guards whose query was leased until another time than `until`; NULL is for rules without a query.
{{locked}}
UPDATE release_guards g
SET value = x.value, "limit" = x."limit", samples = x.samples, covers_from = x.covers_from,
    covers_to = x.covers_to, rule_state = x.rule_state, rule_reason = x.rule_reason,
    due_at = coalesce(x.due_at, g.due_at), query_due_at = coalesce(x.query_due_at, g.query_due_at)
FROM jsonb_to_recordset(%(items)s::jsonb)
     AS x (id bigint, value double precision, "limit" double precision, samples double precision,
           covers_from timestamptz, covers_to timestamptz, rule_state jsonb, rule_reason text,
           due_at timestamptz, query_due_at timestamptz)
JOIN locked USING (id)
WHERE g.id = x.id
  AND (%(until)s::timestamptz IS NULL OR g.query_due_at = %(until)s);

-- name: lease_due_queries
-- The guards whose query must be sent, for sources that are not `busy`; they are due again at `until`, in
-- case the process ends. One that is due later than after a lease and its interval is due after a step of the clock.
UPDATE release_guards g
SET query_due_at = %(until)s
FROM releases r
JOIN features f ON f.name = r.feature
WHERE r.id = g.release_id
  AND g.id = ANY(ARRAY(
      SELECT id
      FROM release_guards
      WHERE is_watching
        AND (query_due_at <= %(now)s
             OR query_due_at > %(now)s
                + make_interval(mins => 2, secs => (definition -> 'rule' ->> 'everySeconds')::integer))
        AND definition -> 'rule' -> 'source' ->> 'source' <> ALL(%(busy)s)
      FOR UPDATE SKIP LOCKED
  ))
RETURNING g.id, g.release_id, g.definition, g.covers_to, r.feature, r.environment, f.project;

-- name: return_queries
UPDATE release_guards
SET query_due_at = %(now)s
WHERE id = ANY(%(ids)s)
  AND query_due_at = %(until)s;

-- name: list_leased_queries
-- Takes no lock: only the holder of the lease writes the state of a rule.
SELECT id, release_id, definition, state, rule_state
FROM release_guards
WHERE id = ANY(%(ids)s) AND is_watching AND query_due_at = %(until)s
ORDER BY id;

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

-- name: find_endpoint
SELECT e.id, e.name, e.enabled, e.template, e.options, now() AS now,
       CASE WHEN e.options ? 'silence' THEN c.state END AS silence
FROM signal_endpoints e
LEFT JOIN silence_checks c ON c.endpoint_id = e.id
WHERE e.id = %(id)s;

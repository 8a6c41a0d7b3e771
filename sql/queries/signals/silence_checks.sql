-- The states of endpoints that expect signals. Written by the job `silence`, under the lock of
-- silence_clock; deleted with their endpoint, or by the job when its endpoint expects no signals.

-- name: has_silence_work
-- Whether an endpoint expects signals, or did until now.
SELECT EXISTS (SELECT 1 FROM signal_endpoints WHERE enabled AND options ? 'silence')
    OR EXISTS (SELECT 1 FROM silence_checks);

-- name: list_silence_work
-- The enabled endpoints that expect signals, or did until now, with the newest signal of a sender:
-- one index lookup for each token, because signals of users and of the service have none.
SELECT e.id AS endpoint_id, e.name AS endpoint_name, e.options -> 'silence' AS silence,
       c.endpoint_id IS NOT NULL AS is_checked, c.state, c.since, c.alert_key, c.last_signal_id,
       c.last_signal_at, c.last_signal_seconds, c.started_seconds, c.waits_from_seconds, c.next_at,
       c.late_seconds, coalesce(c.must_restart, false) AS must_restart,
       newest.id AS newest_id, newest.created_at AS newest_at
FROM signal_endpoints e
LEFT JOIN silence_checks c ON c.endpoint_id = e.id
LEFT JOIN LATERAL (
    SELECT s.id, s.created_at
    FROM signal_endpoint_tokens t
    CROSS JOIN LATERAL (
        SELECT id, created_at FROM signals WHERE token_id = t.id ORDER BY id DESC LIMIT 1
    ) s
    WHERE t.signal_endpoint_id = e.id
    ORDER BY s.id DESC
    LIMIT 1
) newest ON true
WHERE e.enabled AND (e.options ? 'silence' OR c.endpoint_id IS NOT NULL)
ORDER BY e.id;

-- name: save_silence_checks
-- `must_restart` is kept if a change of the endpoint has set it since the checks were read.
INSERT INTO silence_checks AS c
    (endpoint_id, state, since, alert_key, last_signal_id, last_signal_at, last_signal_seconds,
     started_seconds, waits_from_seconds, next_at, late_seconds)
SELECT endpoint_id, state, since, alert_key, last_signal_id, last_signal_at, last_signal_seconds,
       started_seconds, waits_from_seconds, next_at, late_seconds
FROM json_to_recordset(%(checks)s)
     AS n (endpoint_id integer, state text, since timestamptz, alert_key text,
           last_signal_id bigint, last_signal_at timestamptz, last_signal_seconds double precision,
           started_seconds double precision, waits_from_seconds double precision,
           next_at timestamptz, late_seconds double precision)
ON CONFLICT (endpoint_id) DO UPDATE
SET state = excluded.state, since = excluded.since, alert_key = excluded.alert_key,
    last_signal_id = excluded.last_signal_id, last_signal_at = excluded.last_signal_at,
    last_signal_seconds = excluded.last_signal_seconds,
    started_seconds = excluded.started_seconds, waits_from_seconds = excluded.waits_from_seconds,
    next_at = excluded.next_at, late_seconds = excluded.late_seconds,
    must_restart = c.must_restart AND NOT c.endpoint_id = ANY(%(restarted_ids)s);

-- name: restart_silence_check
UPDATE silence_checks SET must_restart = true WHERE endpoint_id = %(endpoint_id)s;

-- name: delete_silence_checks
DELETE FROM silence_checks WHERE endpoint_id = ANY(%(endpoint_ids)s);

-- name: list_silence_checks
-- The checks with the clock, from which the expected times are computed.
SELECT c.endpoint_id, c.state, c.since, c.last_signal_at, c.waits_from_seconds, c.next_at,
       c.late_seconds, k.seconds, k.ticked_at
FROM silence_checks c
CROSS JOIN silence_clock k
WHERE %(endpoint_id)s::int IS NULL OR c.endpoint_id = %(endpoint_id)s;

-- name: lock_silence_clock
-- No row if another process has it, which then checks the endpoints.
SELECT seconds, ticked_at
FROM silence_clock
FOR UPDATE SKIP LOCKED;

-- name: insert_silence_clock
INSERT INTO silence_clock (seconds, ticked_at)
VALUES (0, %(now)s)
ON CONFLICT DO NOTHING;

-- name: update_silence_clock
UPDATE silence_clock
SET seconds = %(seconds)s, ticked_at = %(now)s;

-- Received signals. Written by senders; deleted by the retention job in chunks.

-- name: insert_signal
-- Identifies the sender and stores the signal in one statement, thus one commit and one round
-- trip. No row: the token is none of this endpoint's, or the endpoint is disabled. Where an action
-- set listens the signal waits in the queue from the same commit on; `queued` tells so.
WITH stored AS (
    INSERT INTO signals (endpoint_id, token_id, payload, payload_bytes)
    SELECT e.id, t.id, %(payload)s::json, %(payload_bytes)s
    FROM signal_endpoint_tokens t
    JOIN signal_endpoints e ON e.id = t.signal_endpoint_id
    WHERE t.secret_hash = %(secret_hash)s
      AND e.name = %(endpoint_name)s
      AND e.enabled
    RETURNING id, endpoint_id, token_id, payload, payload_bytes, created_at
), queued AS (
    INSERT INTO signal_queue (signal_id, endpoint_id)
    SELECT id, endpoint_id
    FROM stored
    WHERE EXISTS (SELECT 1 FROM action_sets a WHERE a.source_id = stored.endpoint_id AND a.enabled)
    RETURNING signal_id
)
SELECT id, endpoint_id, token_id, payload, payload_bytes, created_at,
       EXISTS (SELECT 1 FROM queued) AS queued
FROM stored;

-- name: insert_signal_of_person
-- Sent from a page, or sent again: it is judged like any other.
WITH stored AS (
    INSERT INTO signals (endpoint_id, token_id, payload, payload_bytes, sent_by, replay_of)
    VALUES (%(endpoint_id)s, 0, %(payload)s::json, %(payload_bytes)s, %(sent_by)s, %(replay_of)s)
    RETURNING id, endpoint_id, token_id, sent_by, replay_of, payload, payload_bytes, created_at
), queued AS (
    INSERT INTO signal_queue (signal_id, endpoint_id)
    SELECT id, endpoint_id
    FROM stored
    WHERE EXISTS (SELECT 1 FROM action_sets a WHERE a.source_id = stored.endpoint_id AND a.enabled)
)
SELECT id, endpoint_id, token_id, NULL AS token_name, sent_by, replay_of, payload, payload_bytes,
       created_at
FROM stored;

-- name: list_signals_of_endpoint
-- Newest first. Keyset by `before`; the offset is there for compatible clients. A page ends early
-- when its payloads exceed `page_bytes`; `bytes` is their size up to and with the row.
SELECT id, endpoint_id, token_id, token_name, sent_by, replay_of, payload, payload_bytes,
       created_at, bytes
FROM (
    SELECT id, endpoint_id, token_id, token_name, sent_by, replay_of, payload, payload_bytes,
           created_at, sum(payload_bytes) OVER (ORDER BY id DESC) AS bytes
    FROM (
        SELECT s.id, s.endpoint_id, s.token_id, t.name AS token_name, s.sent_by, s.replay_of,
               s.payload, s.payload_bytes, s.created_at
        FROM signals s
        LEFT JOIN signal_endpoint_tokens t ON t.id = s.token_id
        WHERE s.endpoint_id = %(endpoint_id)s
          AND (%(before)s::bigint IS NULL OR s.id < %(before)s)
        ORDER BY s.id DESC
        LIMIT %(limit)s OFFSET %(offset)s
    ) rows
) page
WHERE bytes - payload_bytes < %(page_bytes)s
ORDER BY id DESC;

-- name: list_signals_of_token
-- The same for one token.
SELECT id, endpoint_id, token_id, token_name, sent_by, replay_of, payload, payload_bytes,
       created_at, bytes
FROM (
    SELECT id, endpoint_id, token_id, token_name, sent_by, replay_of, payload, payload_bytes,
           created_at, sum(payload_bytes) OVER (ORDER BY id DESC) AS bytes
    FROM (
        SELECT s.id, s.endpoint_id, s.token_id, t.name AS token_name, s.sent_by, s.replay_of,
               s.payload, s.payload_bytes, s.created_at
        FROM signals s
        LEFT JOIN signal_endpoint_tokens t ON t.id = s.token_id
        WHERE s.endpoint_id = %(endpoint_id)s
          AND s.token_id = %(token_id)s
          AND (%(before)s::bigint IS NULL OR s.id < %(before)s)
        ORDER BY s.id DESC
        LIMIT %(limit)s OFFSET %(offset)s
    ) rows
) page
WHERE bytes - payload_bytes < %(page_bytes)s
ORDER BY id DESC;

-- name: search_signals
-- Looks through the newest part of the log only: `window_rows` signals or `window_bytes` of
-- payload, whichever ends first. find_search_end tells how far that is.
SELECT w.id, w.endpoint_id, w.token_id, w.token_name, w.sent_by, w.replay_of, w.payload,
       w.payload_bytes, w.created_at
FROM (
    SELECT s.id, s.endpoint_id, s.token_id, t.name AS token_name, s.sent_by, s.replay_of,
           s.payload, s.payload_bytes, s.created_at
    FROM signals s
    LEFT JOIN signal_endpoint_tokens t ON t.id = s.token_id
    WHERE s.endpoint_id = %(endpoint_id)s
      AND (%(token_id)s::int IS NULL OR s.token_id = %(token_id)s)
      AND (%(before)s::bigint IS NULL OR s.id < %(before)s)
      AND s.id >= %(until)s
    ORDER BY s.id DESC
) w
WHERE w.payload::text ILIKE %(pattern)s
ORDER BY w.id DESC
LIMIT %(limit)s;

-- name: find_search_end
-- The oldest id of the part that search_signals looks through, and whether older ones exist.
SELECT min(id) AS until, count(*) = %(window_rows)s OR bool_or(running > %(window_bytes)s) AS more
FROM (
    SELECT id, running
    FROM (
        SELECT id, payload_bytes, sum(payload_bytes) OVER (ORDER BY id DESC) AS running
        FROM (
            SELECT id, payload_bytes
            FROM signals
            WHERE endpoint_id = %(endpoint_id)s
              AND (%(token_id)s::int IS NULL OR token_id = %(token_id)s)
              AND (%(before)s::bigint IS NULL OR id < %(before)s)
            ORDER BY id DESC
            LIMIT %(window_rows)s
        ) newest
    ) summed
    WHERE running - payload_bytes <= %(window_bytes)s
) part;

-- name: find_signal
SELECT s.id, s.endpoint_id, s.token_id, t.name AS token_name, s.sent_by, s.replay_of,
       s.payload, s.payload_bytes, s.created_at
FROM signals s
JOIN signal_endpoints e ON e.id = s.endpoint_id
LEFT JOIN signal_endpoint_tokens t ON t.id = s.token_id
WHERE s.endpoint_id = %(endpoint_id)s
  AND s.id = %(id)s;

-- name: list_signals
-- Across endpoints; signals of deleted endpoints have no row to join and so are not seen.
SELECT id, endpoint_id, token_id, token_name, sent_by, replay_of, payload, payload_bytes,
       created_at, endpoint_name, endpoint_description, bytes
FROM (
    SELECT id, endpoint_id, token_id, token_name, sent_by, replay_of, payload, payload_bytes,
           created_at, endpoint_name, endpoint_description,
           sum(payload_bytes) OVER (ORDER BY id DESC) AS bytes
    FROM (
        SELECT s.id, s.endpoint_id, s.token_id, t.name AS token_name, s.sent_by, s.replay_of,
               s.payload, s.payload_bytes, s.created_at, e.name AS endpoint_name,
               e.description AS endpoint_description
        FROM signals s
        JOIN signal_endpoints e ON e.id = s.endpoint_id
        LEFT JOIN signal_endpoint_tokens t ON t.id = s.token_id
        WHERE (%(from_time)s::timestamptz IS NULL OR s.created_at >= %(from_time)s)
          AND (%(to_time)s::timestamptz IS NULL OR s.created_at < %(to_time)s)
          AND (%(before)s::bigint IS NULL OR s.id < %(before)s)
        ORDER BY s.id DESC
        LIMIT %(limit)s OFFSET %(offset)s
    ) rows
) page
WHERE bytes - payload_bytes < %(page_bytes)s
ORDER BY id DESC;

-- name: count_signals
-- Counts to `most` at the most, so that a large log costs no more than a small one.
SELECT count(*)
FROM (
    SELECT 1
    FROM signals s
    JOIN signal_endpoints e ON e.id = s.endpoint_id
    WHERE (%(from_time)s::timestamptz IS NULL OR s.created_at >= %(from_time)s)
      AND (%(to_time)s::timestamptz IS NULL OR s.created_at < %(to_time)s)
    LIMIT %(most)s
) counted;

-- name: count_signals_of_endpoint
SELECT count(*)
FROM (SELECT 1 FROM signals WHERE endpoint_id = %(endpoint_id)s LIMIT %(most)s) counted;

-- name: list_last_signals
-- The newest signal of each endpoint and of each token: one index look-up for each.
SELECT e.id AS endpoint_id, NULL::int AS token_id, s.created_at
FROM signal_endpoints e
CROSS JOIN LATERAL (
    SELECT created_at FROM signals WHERE endpoint_id = e.id ORDER BY id DESC LIMIT 1
) s
UNION ALL
SELECT t.signal_endpoint_id, t.id, s.created_at
FROM signal_endpoint_tokens t
CROSS JOIN LATERAL (
    SELECT created_at FROM signals WHERE token_id = t.id ORDER BY id DESC LIMIT 1
) s;

-- name: count_signals_by_hour
-- `hours_ago` 0 is the running hour. The BRIN index on created_at bounds the scan.
SELECT endpoint_id,
       (extract(epoch FROM date_trunc('hour', now()) - date_trunc('hour', created_at)) / 3600)::int
           AS hours_ago,
       count(*) AS signals
FROM signals
WHERE created_at >= date_trunc('hour', now()) - interval '23 hours'
GROUP BY endpoint_id, hours_ago;

-- name: delete_old_signals
-- One chunk of what is older than the retention time and does not wait to be judged. Ids grow with time, so the walk from the
-- oldest id ends at the first signal that is young enough.
DELETE FROM signals
WHERE id IN (
    SELECT id
    FROM (SELECT id, created_at FROM signals ORDER BY id LIMIT %(chunk)s) oldest
    WHERE created_at < now() - make_interval(days => %(days)s)
      AND NOT EXISTS (SELECT 1 FROM signal_queue q WHERE q.signal_id = oldest.id)
);

-- name: list_endpoint_ids_with_signals
-- One index look-up for each endpoint that has signals, deleted ones included.
WITH RECURSIVE ids AS (
    (SELECT endpoint_id FROM signals ORDER BY endpoint_id LIMIT 1)
    UNION ALL
    SELECT (SELECT s.endpoint_id FROM signals s
            WHERE s.endpoint_id > i.endpoint_id ORDER BY s.endpoint_id LIMIT 1)
    FROM ids i
    WHERE i.endpoint_id IS NOT NULL
)
SELECT i.endpoint_id, e.id IS NULL AS is_deleted
FROM ids i
LEFT JOIN signal_endpoints e ON e.id = i.endpoint_id
WHERE i.endpoint_id IS NOT NULL;

-- name: delete_surplus_signals
-- One chunk of what exceeds the newest `keep` signals of an endpoint, but for those that wait.
DELETE FROM signals
WHERE id IN (
    SELECT id
    FROM signals
    WHERE endpoint_id = %(endpoint_id)s
      AND id <= (SELECT id FROM signals WHERE endpoint_id = %(endpoint_id)s
                 ORDER BY id DESC LIMIT 1 OFFSET %(keep)s)
      AND NOT EXISTS (SELECT 1 FROM signal_queue q WHERE q.signal_id = signals.id)
    ORDER BY id
    LIMIT %(chunk)s
);

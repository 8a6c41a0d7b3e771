-- Received signals. Written by senders; deleted by the retention job in chunks.

-- part: must_queue
-- Whether the endpoint of the signal `a` triggers an enabled action set, or a disabled one whose alerts can
-- resolve, or a guard of a release watches it.
EXISTS (SELECT 1 FROM action_sets x
        WHERE x.endpoint_id = a.endpoint_id AND (x.enabled OR x.settings ? 'restoreWhenResolved'))
OR EXISTS (SELECT 1 FROM release_guards g WHERE g.endpoint_id = a.endpoint_id AND g.is_watching)

-- name: insert_signals, planned once
-- Stores the signals of concurrent senders in one statement, which is one commit and one round trip. Returns
-- a row for each signal whose endpoint still has the version that its sender was authenticated with.
-- `created_at` is NULL if the endpoint has a signal with the same key already: then the signal is not stored.
-- IDs are in the order of the list. `signals` is one JSON text, which the driver formats faster
-- than arrays; the payload is text in it, so that it doesn't change. The join with the token protects from a
-- previous version of the program, which deletes tokens without a new version of the endpoint. With LATERAL
-- each token is one index lookup.
WITH accepted AS MATERIALIZED (
    SELECT nextval('signals_id_seq') AS id, s.position, s.endpoint_id, s.token_id, s.payload,
           s.payload_bytes, s.idempotency_key
    FROM (SELECT n.position, e.id AS endpoint_id, n.token_id, n.payload, n.payload_bytes,
                 n.idempotency_key
          FROM json_to_recordset(%(signals)s)
               AS n (position integer, endpoint_id integer, version bigint, token_id integer,
                     payload text, payload_bytes integer, idempotency_key uuid)
          CROSS JOIN LATERAL (
              SELECT signal_endpoint_id
              FROM signal_endpoint_tokens
              WHERE id = n.token_id
              LIMIT 1
          ) t
          JOIN signal_endpoints e ON e.id = t.signal_endpoint_id
                                 AND e.id = n.endpoint_id
                                 AND e.version = n.version
                                 AND e.enabled
          ORDER BY n.position) s
), stored AS (
    INSERT INTO signals (id, endpoint_id, token_id, payload, payload_bytes, idempotency_key)
    OVERRIDING SYSTEM VALUE
    SELECT id, endpoint_id, token_id, payload::json, payload_bytes, idempotency_key
    FROM accepted
    ON CONFLICT (endpoint_id, idempotency_key) WHERE idempotency_key IS NOT NULL DO NOTHING
    RETURNING id, created_at
), queued AS (
    INSERT INTO signal_queue (signal_id, endpoint_id)
    SELECT a.id, a.endpoint_id
    FROM accepted a
    JOIN stored s ON s.id = a.id
    WHERE {{must_queue}}
    RETURNING signal_id
)
SELECT a.position, a.id, a.endpoint_id, a.token_id, s.created_at, q.signal_id IS NOT NULL AS queued
FROM accepted a
LEFT JOIN stored s ON s.id = a.id
LEFT JOIN queued q ON q.signal_id = a.id;

-- name: find_signal_by_key
-- `is_expired` if the window of its key is over.
SELECT id, endpoint_id, token_id, payload, payload_bytes, created_at,
       created_at <= now() - make_interval(hours => %(window_hours)s) AS is_expired
FROM signals
WHERE endpoint_id = %(endpoint_id)s
  AND idempotency_key = %(idempotency_key)s;

-- name: release_key
-- Releases the key of the signal `id` only: another signal may have the key by now.
UPDATE signals SET idempotency_key = NULL WHERE id = %(id)s;

-- part: queue_stored
-- Queues a signal like insert_signals.
INSERT INTO signal_queue (signal_id, endpoint_id)
SELECT a.id, a.endpoint_id
FROM stored a
WHERE {{must_queue}}

-- name: insert_signal_by_user
-- A test signal or a replay, queued like a sender's signal.
WITH stored AS (
    INSERT INTO signals (endpoint_id, token_id, payload, payload_bytes, sent_by, replay_of)
    VALUES (%(endpoint_id)s, %(token_id)s, %(payload)s::json, %(payload_bytes)s, %(sent_by)s,
            %(replay_of)s)
    RETURNING id, endpoint_id, token_id, sent_by, replay_of, payload, payload_bytes, created_at
), queued AS (
    {{queue_stored}}
)
SELECT id, endpoint_id, token_id, NULL AS token_name, sent_by, replay_of, payload, payload_bytes,
       created_at
FROM stored;

-- name: insert_own_signals
-- Signals of the service, queued like a sender's signals, with IDs in their order.
WITH stored AS (
    INSERT INTO signals (endpoint_id, token_id, payload, payload_bytes, sent_by)
    SELECT endpoint_id, %(token_id)s, payload, octet_length(payload::text), %(sent_by)s
    FROM ROWS FROM (json_to_recordset(%(signals)s) AS (endpoint_id integer, payload json))
         WITH ORDINALITY AS n (endpoint_id, payload, position)
    ORDER BY position
    RETURNING id, endpoint_id
), queued AS (
    {{queue_stored}}
)
SELECT id, endpoint_id
FROM stored
ORDER BY id;

-- part: page_of_newest
-- A page ends early when its payloads exceed `page_bytes`; `bytes` is the total size up to and including
-- the row.
SELECT s.id, s.endpoint_id, s.token_id, t.name AS token_name, s.sent_by, s.replay_of, s.payload,
       s.payload_bytes, s.created_at, page.bytes
FROM (SELECT id, sum(payload_bytes) OVER (ORDER BY id DESC) AS bytes FROM newest) page
JOIN signals s ON s.id = page.id
LEFT JOIN signal_endpoint_tokens t ON t.id = s.token_id
WHERE page.bytes - s.payload_bytes < %(page_bytes)s
ORDER BY s.id DESC

-- name: list_signals_for_endpoint
-- Newest first. Pages by the key `before`; the offset exists for compatible clients.
WITH newest AS (
    SELECT id, payload_bytes
    FROM signals
    WHERE endpoint_id = %(endpoint_id)s
      AND (%(before)s::bigint IS NULL OR id < %(before)s)
    ORDER BY id DESC
    LIMIT %(limit)s OFFSET %(offset)s
)
{{page_of_newest}};

-- name: list_signals_for_token
-- Like list_signals_for_endpoint, by another index. `+ 0` excludes the index on the endpoint: without
-- statistics the planner would combine both.
WITH newest AS (
    SELECT id, payload_bytes
    FROM signals
    WHERE endpoint_id + 0 = %(endpoint_id)s
      AND token_id = %(token_id)s
      AND (%(before)s::bigint IS NULL OR id < %(before)s)
    ORDER BY id DESC
    LIMIT %(limit)s OFFSET %(offset)s
)
{{page_of_newest}};

-- name: search_signals
-- Searches the part of the log that find_search_end has bounded, from `oldest_id` on.
SELECT s.id, s.endpoint_id, s.token_id, t.name AS token_name, s.sent_by, s.replay_of, s.payload,
       s.payload_bytes, s.created_at
FROM signals s
LEFT JOIN signal_endpoint_tokens t ON t.id = s.token_id
WHERE s.endpoint_id = %(endpoint_id)s
  AND (%(token_id)s::int IS NULL OR s.token_id = %(token_id)s)
  AND (%(before)s::bigint IS NULL OR s.id < %(before)s)
  AND s.id >= %(oldest_id)s
  AND (%(from_time)s::timestamptz IS NULL OR s.created_at >= %(from_time)s)
  AND (%(to_time)s::timestamptz IS NULL OR s.created_at < %(to_time)s)
  AND (%(pattern)s::text IS NULL OR s.payload::text ILIKE %(pattern)s)
ORDER BY s.id DESC
LIMIT %(limit)s;

-- name: find_search_end
-- The oldest ID that one search covers, after `window_rows` signals or `window_bytes` of payload,
-- whichever comes first, and whether older signals may exist.
SELECT min(id) AS oldest_id,
       count(*) = %(window_rows)s OR bool_or(bytes > %(window_bytes)s) AS has_more
FROM (
    SELECT id, bytes
    FROM (
        SELECT id, payload_bytes, sum(payload_bytes) OVER (ORDER BY id DESC) AS bytes
        FROM (
            SELECT id, payload_bytes
            FROM signals
            WHERE endpoint_id = %(endpoint_id)s
              AND (%(token_id)s::int IS NULL OR token_id = %(token_id)s)
              AND (%(before)s::bigint IS NULL OR id < %(before)s)
              AND (%(from_time)s::timestamptz IS NULL OR created_at >= %(from_time)s)
              AND (%(to_time)s::timestamptz IS NULL OR created_at < %(to_time)s)
            ORDER BY id DESC
            LIMIT %(window_rows)s
        ) newest
    ) totals
    WHERE bytes - payload_bytes <= %(window_bytes)s
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
-- Like list_signals_for_endpoint, of all endpoints. The join hides signals of deleted endpoints.
SELECT s.id, s.endpoint_id, s.token_id, t.name AS token_name, s.sent_by, s.replay_of, s.payload,
       s.payload_bytes, s.created_at, page.endpoint_name, page.endpoint_description, page.bytes
FROM (
    SELECT id, endpoint_name, endpoint_description,
           sum(payload_bytes) OVER (ORDER BY id DESC) AS bytes
    FROM (
        SELECT s.id, s.payload_bytes, e.name AS endpoint_name,
               e.description AS endpoint_description
        FROM signals s
        JOIN signal_endpoints e ON e.id = s.endpoint_id
        WHERE (%(from_time)s::timestamptz IS NULL OR s.created_at >= %(from_time)s)
          AND (%(to_time)s::timestamptz IS NULL OR s.created_at < %(to_time)s)
          AND (%(before)s::bigint IS NULL OR s.id < %(before)s)
        ORDER BY s.id DESC
        LIMIT %(limit)s OFFSET %(offset)s
    ) newest
) page
JOIN signals s ON s.id = page.id
LEFT JOIN signal_endpoint_tokens t ON t.id = s.token_id
WHERE page.bytes - s.payload_bytes < %(page_bytes)s
ORDER BY s.id DESC;

-- name: count_signals
-- Stops at `limit`, so that a large log costs no more than a small one.
SELECT count(*)
FROM (
    SELECT 1
    FROM signals s
    JOIN signal_endpoints e ON e.id = s.endpoint_id
    WHERE (%(from_time)s::timestamptz IS NULL OR s.created_at >= %(from_time)s)
      AND (%(to_time)s::timestamptz IS NULL OR s.created_at < %(to_time)s)
    LIMIT %(limit)s
) counted;

-- name: count_signals_for_endpoint
SELECT count(*)
FROM (SELECT 1 FROM signals WHERE endpoint_id = %(endpoint_id)s LIMIT %(limit)s) counted;

-- name: list_last_signals
-- The newest signal of each endpoint: one index lookup for each.
SELECT s.*
FROM signal_endpoints e
CROSS JOIN LATERAL (
    SELECT id, endpoint_id, payload, created_at FROM signals WHERE endpoint_id = e.id ORDER BY id DESC LIMIT 1
) s;

-- name: find_last_received
-- The time of the newest signal of each token: one index lookup for each.
SELECT t.id AS token_id, s.created_at
FROM signal_endpoint_tokens t
CROSS JOIN LATERAL (
    SELECT created_at FROM signals WHERE token_id = t.id ORDER BY id DESC LIMIT 1
) s;

-- name: count_signals_by_hour
-- `hours_ago` 0 is the current hour. The BRIN index on created_at bounds the scan.
SELECT endpoint_id,
       (extract(epoch FROM date_trunc('hour', now()) - date_trunc('hour', created_at)) / 3600)::int
           AS hours_ago,
       count(*) AS signals
FROM signals
WHERE created_at >= date_trunc('hour', now()) - interval '23 hours'
GROUP BY endpoint_id, hours_ago;

-- name: lock_old_signals
-- One chunk of the signals that are older than the retention time and not queued for evaluation. IDs
-- grow with time, so the scan from the oldest ID ends at the first recent signal. An array, because a join
-- could read the whole table.
SELECT s.id
FROM signals s
WHERE s.id = ANY(ARRAY(SELECT id FROM signals ORDER BY id LIMIT %(chunk)s))
  AND s.created_at < now() - make_interval(days => %(days)s)
  AND NOT EXISTS (SELECT 1 FROM signal_queue q WHERE q.signal_id = s.id)
ORDER BY s.id
FOR UPDATE OF s SKIP LOCKED;

-- name: list_endpoint_ids_with_signals
-- One index lookup for each endpoint that has signals, deleted endpoints included.
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

-- name: lock_surplus_signals
-- One chunk of an endpoint's signals beyond the newest `keep` ones; queued signals stay.
SELECT id
FROM signals
WHERE endpoint_id = %(endpoint_id)s
  AND id <= (SELECT id FROM signals WHERE endpoint_id = %(endpoint_id)s
             ORDER BY id DESC LIMIT 1 OFFSET %(keep)s)
  AND NOT EXISTS (SELECT 1 FROM signal_queue q WHERE q.signal_id = signals.id)
ORDER BY id
LIMIT %(chunk)s
FOR UPDATE SKIP LOCKED;

-- name: list_signals_by_id
-- For the archive; the names are null if endpoint or token have been deleted.
SELECT s.id, s.endpoint_id, e.name AS endpoint_name, s.token_id, t.name AS token_name, s.sent_by,
       s.replay_of, s.payload, s.created_at
FROM signals s
LEFT JOIN signal_endpoints e ON e.id = s.endpoint_id
LEFT JOIN signal_endpoint_tokens t ON t.id = s.token_id
WHERE s.id = ANY(%(ids)s)
ORDER BY s.id;

-- name: delete_signals
DELETE FROM signals WHERE id = ANY(%(ids)s);

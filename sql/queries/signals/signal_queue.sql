-- Signals that wait for evaluation, and the results of evaluated signals.

-- name: list_queued_signals
-- The oldest signals, up to `max_bytes` of payload, because each matching set stores a copy. Call
-- end_signals in the same transaction.
SELECT signal_id, endpoint_id, payload, token_id, created_at, now() AS now,
       (SELECT value FROM settings WHERE key = 'emergency') AS emergency,
       (SELECT e.template FROM signal_endpoints e WHERE e.id = endpoint_id) AS template,
       EXISTS (SELECT FROM release_guards g
               WHERE g.endpoint_id = waiting.endpoint_id AND g.kind = 'signal' AND g.is_watching) AS is_guarded
FROM (
    SELECT q.signal_id, q.endpoint_id, s.payload, s.token_id, s.created_at,
           coalesce(sum(s.payload_bytes) OVER (ORDER BY q.signal_id
                    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS bytes_before
    FROM (SELECT signal_id, endpoint_id FROM signal_queue ORDER BY signal_id LIMIT %(limit)s) q
    LEFT JOIN signals s ON s.id = q.signal_id
) waiting
WHERE bytes_before < %(max_bytes)s
ORDER BY signal_id;

-- part: ended
-- Deletes the signals from the queue, and stores the results of those that were queued and have some.
deleted AS (
    DELETE FROM signal_queue WHERE signal_id = ANY(%(signal_ids)s) RETURNING signal_id
), stored AS (
    INSERT INTO signal_results (signal_id, results)
    SELECT signal_id, r.results::jsonb
    FROM deleted
    JOIN unnest(%(signal_ids)s::bigint[], %(results)s::text[]) AS r (signal_id, results) USING (signal_id)
    WHERE r.results IS NOT NULL
    ON CONFLICT DO NOTHING
)

-- name: list_results
-- `results` is NULL for a queued signal. A signal that triggered no set has no row.
SELECT signal_id, results FROM signal_results WHERE signal_id = ANY(%(signal_ids)s)
UNION ALL
SELECT signal_id, NULL FROM signal_queue WHERE signal_id = ANY(%(signal_ids)s);

-- name: delete_orphaned_results
DELETE FROM signal_results
WHERE signal_id IN (
    SELECT v.signal_id FROM signal_results v
    WHERE NOT EXISTS (SELECT 1 FROM signals s WHERE s.id = v.signal_id)
    LIMIT %(chunk)s
);

-- The signals of senders at endpoints that rules on silence watch. Signals of users and of the service have no token.

-- name: find_newest_signals
-- One index lookup for each token.
SELECT DISTINCT ON (t.signal_endpoint_id) t.signal_endpoint_id AS endpoint_id, s.id, s.created_at
FROM signal_endpoint_tokens t
CROSS JOIN LATERAL (
    SELECT id, created_at FROM signals WHERE token_id = t.id ORDER BY id DESC LIMIT 1
) s
WHERE t.signal_endpoint_id = ANY(%(endpoint_ids)s)
ORDER BY t.signal_endpoint_id, s.id DESC;

-- name: list_signal_times
SELECT max(s.created_at) AS last_at
FROM signal_endpoint_tokens t
JOIN signals s ON s.token_id = t.id
WHERE t.signal_endpoint_id = %(endpoint_id)s
  AND s.created_at > %(start)s
GROUP BY floor(extract(epoch FROM s.created_at) / 600)
ORDER BY 1;

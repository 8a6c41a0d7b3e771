-- Tokens of signal endpoints. Written by admins; deleted by admins or with their endpoint.

-- name: insert_signal_endpoint_token
-- Returns no row if the limit is reached. Call under lock_signal_endpoint.
INSERT INTO signal_endpoint_tokens
    (signal_endpoint_id, name, secret_hash, secret_prefix, created_by_user_id)
SELECT %(signal_endpoint_id)s, %(name)s, %(secret_hash)s, %(secret_prefix)s, %(created_by_user_id)s
WHERE (SELECT count(*) FROM signal_endpoint_tokens
       WHERE signal_endpoint_id = %(signal_endpoint_id)s) < %(limit)s
RETURNING id, signal_endpoint_id, name, secret_prefix, created_at, created_by_user_id;

-- name: list_all_signal_endpoint_tokens
SELECT id, signal_endpoint_id, name, secret_prefix, created_at, created_by_user_id
FROM signal_endpoint_tokens
ORDER BY id;

-- name: list_signal_endpoint_tokens
SELECT id, signal_endpoint_id, name, secret_prefix, created_at, created_by_user_id
FROM signal_endpoint_tokens
WHERE signal_endpoint_id = %(signal_endpoint_id)s
ORDER BY id;

-- name: find_signal_endpoint_token
SELECT id, signal_endpoint_id, name, secret_prefix, created_at, created_by_user_id
FROM signal_endpoint_tokens
WHERE signal_endpoint_id = %(signal_endpoint_id)s
  AND id = %(id)s;

-- name: rename_signal_endpoint_token
UPDATE signal_endpoint_tokens
SET name = %(name)s
WHERE signal_endpoint_id = %(signal_endpoint_id)s
  AND id = %(id)s
RETURNING id, signal_endpoint_id, name, secret_prefix, created_at, created_by_user_id;

-- name: delete_signal_endpoint_token
DELETE FROM signal_endpoint_tokens
WHERE signal_endpoint_id = %(signal_endpoint_id)s
  AND id = %(id)s;

-- name: find_signal_token_by_secret
-- The token of a secret, whether or not its endpoint is enabled.
SELECT t.id, t.name, t.signal_endpoint_id, e.name AS endpoint_name, e.enabled
FROM signal_endpoint_tokens t
JOIN signal_endpoints e ON e.id = t.signal_endpoint_id
WHERE t.secret_hash = %(secret_hash)s;

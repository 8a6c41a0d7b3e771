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

-- name: list_encrypted_secrets
-- Call under lock_signal_endpoints and lock_each_signal_endpoint.
SELECT id, encrypted_secret, previous_encrypted_secret
FROM signal_endpoint_tokens
WHERE encrypted_secret IS NOT NULL
   OR previous_encrypted_secret IS NOT NULL
ORDER BY id;

-- name: update_encrypted_secrets
-- The same secrets, encrypted with another key. Processes read the tokens of a new version again.
WITH updated AS (
    UPDATE signal_endpoint_tokens t
    SET encrypted_secret = e.encrypted_secret,
        previous_encrypted_secret = e.previous_encrypted_secret
    FROM unnest(%(ids)s::integer[], %(secrets)s::bytea[], %(previous_secrets)s::bytea[])
        AS e (id, encrypted_secret, previous_encrypted_secret)
    WHERE t.id = e.id
    RETURNING t.signal_endpoint_id
)
UPDATE signal_endpoints
SET version = greatest(version + 1, floor(extract(epoch FROM clock_timestamp()) * 1000))
WHERE id IN (SELECT signal_endpoint_id FROM updated);

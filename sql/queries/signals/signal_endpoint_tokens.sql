-- Tokens of signal endpoints. Written by admins; deleted by admins or with their endpoint.

-- name: insert_signal_endpoint_token
-- Returns no row if the limit is reached. Call under lock_signal_endpoint.
INSERT INTO signal_endpoint_tokens
    (signal_endpoint_id, name, type, secret_hash, secret_prefix, signature, encrypted_secret, expires_at,
     allowed_addresses, created_by_user_id)
SELECT %(signal_endpoint_id)s, %(name)s, %(type)s, %(secret_hash)s, %(secret_prefix)s,
       %(signature)s::jsonb, %(encrypted_secret)s, %(expires_at)s::timestamptz,
       %(allowed_addresses)s::text[], %(created_by_user_id)s
WHERE (SELECT count(*) FROM signal_endpoint_tokens
       WHERE signal_endpoint_id = %(signal_endpoint_id)s) < %(limit)s
RETURNING id;

-- part: token
SELECT t.id, t.signal_endpoint_id, t.name, t.type, t.secret_prefix, t.signature, t.expires_at,
       t.allowed_addresses, t.previous_expires_at, t.created_at, t.created_by_user_id, u.used_at,
       u.used_from, coalesce(u.uses, 0) AS uses
FROM signal_endpoint_tokens t
LEFT JOIN signal_token_uses u ON u.token_id = t.id

-- name: list_signal_endpoint_tokens
-- The tokens of one endpoint, or of all if the parameter is NULL.
{{token}}
WHERE (%(signal_endpoint_id)s::int IS NULL OR t.signal_endpoint_id = %(signal_endpoint_id)s)
ORDER BY t.id;

-- name: find_signal_endpoint_token
{{token}}
WHERE t.signal_endpoint_id = %(signal_endpoint_id)s
  AND t.id = %(id)s;

-- name: update_signal_endpoint_token
UPDATE signal_endpoint_tokens
SET name = %(name)s, expires_at = %(expires_at)s::timestamptz,
    allowed_addresses = %(allowed_addresses)s::text[], signature = %(signature)s::jsonb
WHERE signal_endpoint_id = %(signal_endpoint_id)s
  AND id = %(id)s;

-- name: rotate_signal_endpoint_token
-- The current secret becomes the previous one, which is valid until `previous_expires_at`.
UPDATE signal_endpoint_tokens
SET previous_secret_hash = secret_hash,
    previous_encrypted_secret = encrypted_secret,
    previous_expires_at = %(previous_expires_at)s::timestamptz,
    secret_hash = %(secret_hash)s,
    encrypted_secret = %(encrypted_secret)s,
    secret_prefix = %(secret_prefix)s
WHERE signal_endpoint_id = %(signal_endpoint_id)s
  AND id = %(id)s;

-- name: delete_previous_secret
UPDATE signal_endpoint_tokens
SET previous_secret_hash = NULL, previous_encrypted_secret = NULL, previous_expires_at = NULL
WHERE signal_endpoint_id = %(signal_endpoint_id)s
  AND id = %(id)s;

-- name: delete_signal_endpoint_token
DELETE FROM signal_endpoint_tokens
WHERE signal_endpoint_id = %(signal_endpoint_id)s
  AND id = %(id)s;

-- name: add_signal_token_uses
-- Ignores tokens that were deleted meanwhile.
INSERT INTO signal_token_uses (token_id, used_at, used_from, uses)
SELECT n.token_id, n.used_at, n.used_from, n.uses
FROM unnest(%(token_ids)s::int[], %(times)s::timestamptz[], %(addresses)s::text[],
            %(counts)s::bigint[]) AS n (token_id, used_at, used_from, uses)
JOIN signal_endpoint_tokens t ON t.id = n.token_id
ORDER BY n.token_id
ON CONFLICT (token_id) DO UPDATE
SET uses = signal_token_uses.uses + excluded.uses,
    used_at = greatest(signal_token_uses.used_at, excluded.used_at),
    used_from = CASE WHEN excluded.used_at >= signal_token_uses.used_at
                     THEN excluded.used_from ELSE signal_token_uses.used_from END;

-- name: delete_expired_previous_secrets
UPDATE signal_endpoint_tokens
SET previous_secret_hash = NULL, previous_encrypted_secret = NULL, previous_expires_at = NULL
WHERE previous_expires_at <= now();

-- name: list_encrypted_secrets
-- Call under lock_signal_endpoints and lock_each_signal_endpoint.
SELECT id, encrypted_secret, previous_encrypted_secret
FROM signal_endpoint_tokens
WHERE encrypted_secret IS NOT NULL
   OR previous_encrypted_secret IS NOT NULL
ORDER BY id;

-- name: update_encrypted_secrets
-- Stores the same secrets, encrypted with another key. The new version of the endpoint makes processes read
-- the tokens again.
WITH updated AS (
    UPDATE signal_endpoint_tokens t
    SET encrypted_secret = e.encrypted_secret,
        previous_encrypted_secret = e.previous_encrypted_secret
    FROM unnest(%(id)s::integer[], %(encrypted_secret)s::bytea[], %(previous_encrypted_secret)s::bytea[])
        AS e (id, encrypted_secret, previous_encrypted_secret)
    WHERE t.id = e.id
    RETURNING t.signal_endpoint_id
)
UPDATE signal_endpoints
SET version = greatest(version + 1, floor(extract(epoch FROM clock_timestamp()) * 1000))
WHERE id IN (SELECT signal_endpoint_id FROM updated);

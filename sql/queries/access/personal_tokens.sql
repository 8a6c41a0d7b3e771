-- Personal tokens, which act as their owner, a user or a service account. Written and deleted by
-- users; deleted with the owner. seen_at is the time of the last use.

-- name: insert_personal_token
-- No row if the limit is reached. Call it under lock_user.
INSERT INTO personal_tokens (user_id, description, secret_hash, secret_prefix, expires_at)
SELECT %(user_id)s, %(description)s, %(secret_hash)s, %(secret_prefix)s, %(expires_at)s
WHERE (SELECT count(*) FROM personal_tokens WHERE user_id = %(user_id)s) < %(limit)s
RETURNING id, user_id, description, secret_prefix, created_at, expires_at, seen_at;

-- name: find_owner, planned once
-- The owner with the current role.
SELECT t.id AS token_id, u.id, u.username, u.email, u.name, r.name AS role
FROM personal_tokens t
JOIN users u ON u.id = t.user_id
JOIN roles r ON r.id = u.role_id
WHERE t.secret_hash = %(secret_hash)s
  AND t.expires_at > %(now)s;

-- name: list_personal_tokens
SELECT id, user_id, description, secret_prefix, created_at, expires_at, seen_at
FROM personal_tokens
WHERE user_id = ANY (%(user_ids)s::bigint[])
ORDER BY id;

-- name: delete_personal_token
DELETE FROM personal_tokens WHERE user_id = %(user_id)s AND id = %(id)s;

-- name: delete_personal_tokens_of_user
DELETE FROM personal_tokens WHERE user_id = %(user_id)s RETURNING id;

-- name: mark_personal_tokens_used
-- Locks in the order of IDs, so that two processes can't deadlock.
WITH uses AS (
    SELECT t.id, n.used_at
    FROM unnest(%(ids)s::int[], %(times)s::timestamptz[]) AS n (id, used_at)
    JOIN personal_tokens t ON t.id = n.id
    WHERE t.seen_at IS NULL OR t.seen_at < n.used_at
    ORDER BY t.id
    FOR NO KEY UPDATE OF t
)
UPDATE personal_tokens t
SET seen_at = uses.used_at
FROM uses
WHERE t.id = uses.id;

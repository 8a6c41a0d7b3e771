-- Personal tokens: they act as their owner, a person or a service account. Written and deleted by
-- hand; deleted with the owner.

-- name: insert_personal_token
-- No row when there are as many as the limit allows. Call under lock_user.
INSERT INTO personal_tokens (user_id, description, secret_hash, secret_prefix, expires_at)
SELECT %(user_id)s, %(description)s, %(secret_hash)s, %(secret_prefix)s, %(expires_at)s
WHERE (SELECT count(*) FROM personal_tokens WHERE user_id = %(user_id)s) < %(limit)s
RETURNING id, user_id, description, secret_prefix, created_at, expires_at, seen_at;

-- name: find_owner
-- Whom a token acts as, with the role of this moment.
SELECT t.id AS token_id, u.id, u.username, u.email, u.name, r.name AS role
FROM personal_tokens t
JOIN users u ON u.id = t.user_id
JOIN roles r ON r.id = u.role_id
WHERE t.secret_hash = %(secret_hash)s
  AND t.expires_at > %(now)s;

-- name: find_personal_token
SELECT id, user_id, description, secret_prefix, created_at, expires_at, seen_at
FROM personal_tokens
WHERE user_id = %(user_id)s AND id = %(id)s;

-- name: list_personal_tokens
SELECT id, user_id, description, secret_prefix, created_at, expires_at, seen_at
FROM personal_tokens
WHERE user_id = %(user_id)s
ORDER BY id;

-- name: list_personal_tokens_of_service_accounts
SELECT t.id, t.user_id, t.description, t.secret_prefix, t.created_at, t.expires_at, t.seen_at
FROM personal_tokens t
JOIN users u ON u.id = t.user_id
WHERE u.account_type = 'service'
ORDER BY t.id;

-- name: delete_personal_token
DELETE FROM personal_tokens WHERE user_id = %(user_id)s AND id = %(id)s;

-- name: delete_personal_tokens_of_user
DELETE FROM personal_tokens WHERE user_id = %(user_id)s RETURNING id;

-- name: mark_personal_tokens_used
-- In the order of ids, so that two processes that write the same tokens don't meet crosswise.
WITH seen AS (
    SELECT t.id, s.seen_at
    FROM unnest(%(ids)s::int[], %(times)s::timestamptz[]) AS s (id, seen_at)
    JOIN personal_tokens t ON t.id = s.id
    WHERE t.seen_at IS NULL OR t.seen_at < s.seen_at
    ORDER BY t.id
    FOR NO KEY UPDATE OF t
)
UPDATE personal_tokens t
SET seen_at = seen.seen_at
FROM seen
WHERE t.id = seen.id;

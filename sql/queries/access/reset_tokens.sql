-- Reset links and invite links. Created for an email or an admin, used once, deleted after expiry.

-- name: insert_reset_token
INSERT INTO reset_tokens (token_hash, user_id, created_by, created_at, expires_at)
VALUES (%(token_hash)s, %(user_id)s, %(created_by)s, %(now)s, %(expires_at)s);

-- name: find_reset_token
-- The link with its user; no row after expiry.
SELECT t.user_id, t.created_by, t.used_at, u.username, u.email, u.name, u.role_id,
       r.name AS role, r.description AS role_description
FROM reset_tokens t
JOIN users u ON u.id = t.user_id
JOIN roles r ON r.id = u.role_id
WHERE t.token_hash = %(token_hash)s AND t.expires_at > %(now)s;

-- name: use_reset_token
-- Of two concurrent uses, the second waits for the first and updates no row.
UPDATE reset_tokens SET used_at = %(now)s
WHERE token_hash = %(token_hash)s AND used_at IS NULL AND expires_at > %(now)s;

-- name: delete_unused_reset_tokens
DELETE FROM reset_tokens WHERE user_id = %(user_id)s AND used_at IS NULL;

-- name: delete_expired_reset_tokens
DELETE FROM reset_tokens WHERE expires_at <= %(now)s;

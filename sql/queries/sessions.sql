-- Sessions of signed-in people. Written at sign-in; deleted at sign-out, by the clean-up job,
-- and with the user.

-- name: insert_session
INSERT INTO sessions (id_hash, user_id, created_at, expires_at)
VALUES (%(id_hash)s, %(user_id)s, %(now)s, %(expires_at)s);

-- name: find_session_user
SELECT u.id, u.username, u.email, u.name, u.role_id, r.name AS role, u.has_built_in_password,
       EXISTS (SELECT 1 FROM users o WHERE o.has_built_in_password) AS built_in_password_works
FROM sessions s
JOIN users u ON u.id = s.user_id
JOIN roles r ON r.id = u.role_id
WHERE s.id_hash = %(id_hash)s
  AND s.expires_at > %(now)s;

-- name: delete_session
DELETE FROM sessions WHERE id_hash = %(id_hash)s;

-- name: delete_sessions_of_user
-- All of the user's sessions except the one that asks.
DELETE FROM sessions
WHERE user_id = %(user_id)s
  AND id_hash IS DISTINCT FROM %(except_hash)s::bytea;

-- name: delete_expired_sessions
DELETE FROM sessions WHERE expires_at <= %(now)s;

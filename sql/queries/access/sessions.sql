-- Sessions of signed-in users. Written at sign-in; deleted at sign-out, by the job `sessions` and
-- with the user.

-- name: insert_session
INSERT INTO sessions (id_hash, user_id, created_at, expires_at, last_used_at, ip, user_agent, identity_id,
                      provider_session, provider_issued_at, id_token)
VALUES (%(id_hash)s, %(user_id)s, %(now)s, %(expires_at)s, %(now)s, %(ip)s, %(user_agent)s, %(identity_id)s,
        %(provider_session)s, %(provider_issued_at)s, %(id_token)s);

-- name: find_session_user, planned once
SELECT u.id, u.username, u.email, u.name, u.role_id, r.name AS role, u.has_built_in_password,
       EXISTS (SELECT 1 FROM users o WHERE o.has_built_in_password) AS default_password_works,
       coalesce(s.last_used_at, s.created_at) AS last_used_at, i.issuer,
       u.password_hash IS NOT NULL AS has_password, greatest(s.created_at, s.confirmed_at) AS confirmed_at
FROM sessions s
JOIN users u ON u.id = s.user_id
JOIN roles r ON r.id = u.role_id
LEFT JOIN user_identities i ON i.id = s.identity_id
WHERE s.id_hash = %(id_hash)s
  AND s.expires_at > %(now)s;

-- name: delete_session
DELETE FROM sessions WHERE id_hash = %(id_hash)s;

-- name: delete_sessions_of_user
-- All sessions of the user except the given one.
DELETE FROM sessions
WHERE user_id = %(user_id)s
  AND id_hash IS DISTINCT FROM %(except_hash)s::bytea;

-- name: list_sessions_of_user
-- The active sessions, the last used first. Limited, because hundreds of scripts may be signed in.
SELECT id, created_at, coalesce(last_used_at, created_at) AS last_used_at, expires_at, ip,
       user_agent, id_hash = %(current_hash)s AS is_current, identity_id
FROM sessions
WHERE user_id = %(user_id)s
  AND expires_at > %(now)s
  AND (%(idle_before)s::timestamptz IS NULL
       OR coalesce(last_used_at, created_at) > %(idle_before)s OR id_hash = %(current_hash)s)
ORDER BY is_current DESC, coalesce(last_used_at, created_at) DESC, id DESC
LIMIT %(limit)s;

-- name: delete_own_session
DELETE FROM sessions
WHERE id = %(id)s AND user_id = %(user_id)s
RETURNING id_hash = %(current_hash)s AS is_current;

-- name: find_id_token
SELECT id_token FROM sessions WHERE id_hash = %(id_hash)s;

-- name: confirm_session
-- The user has just signed in at the provider again.
UPDATE sessions SET confirmed_at = %(now)s WHERE id_hash = %(id_hash)s;

-- name: mark_sessions_used
-- Locks in the order of hashes, so that two processes can't deadlock.
WITH uses AS (
    SELECT s.id_hash, n.last_used_at
    FROM unnest(%(hashes)s::bytea[], %(times)s::timestamptz[]) AS n (id_hash, last_used_at)
    JOIN sessions s ON s.id_hash = n.id_hash
    WHERE s.last_used_at IS NULL OR s.last_used_at < n.last_used_at
    ORDER BY s.id_hash
    FOR NO KEY UPDATE OF s
)
UPDATE sessions s
SET last_used_at = uses.last_used_at
FROM uses
WHERE s.id_hash = uses.id_hash;

-- name: delete_expired_sessions
-- Also sessions without use since `idle_before`, unless it is null.
DELETE FROM sessions
WHERE expires_at <= %(now)s
   OR coalesce(last_used_at, created_at) <= %(idle_before)s::timestamptz;

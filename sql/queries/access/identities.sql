-- Identities: the accounts of users at the OpenID provider. Written at a sign-in with the provider; deleted when a user
-- is disconnected, by `unlink-identities` and with the user.

-- name: find_identity
SELECT id, user_id
FROM user_identities
WHERE issuer = %(issuer)s AND subject = %(subject)s;

-- name: insert_identity
INSERT INTO user_identities (user_id, issuer, subject, created_at)
VALUES (%(user_id)s, %(issuer)s, %(subject)s, %(now)s)
RETURNING id;

-- name: mark_identity_used
-- Before the session is inserted: the identity is locked until the commit.
UPDATE user_identities SET last_sign_in_at = %(now)s WHERE id = %(id)s;

-- name: list_identities_of_user
SELECT id, issuer, subject, created_at, last_sign_in_at
FROM user_identities
WHERE user_id = %(user_id)s
ORDER BY id;

-- name: list_identities
SELECT user_id, issuer, last_sign_in_at FROM user_identities;

-- name: delete_identity
-- Deletes its sessions too.
DELETE FROM user_identities
WHERE id = %(id)s AND user_id = %(user_id)s
RETURNING issuer, subject;

-- name: delete_identities
-- Deletes the identities of one user, or of all users.
DELETE FROM user_identities i
USING users u
WHERE u.id = i.user_id
  AND (%(user_id)s::integer IS NULL OR i.user_id = %(user_id)s)
RETURNING i.user_id, i.issuer, i.subject, u.username, u.email;

-- name: end_sessions_of_identity
DELETE FROM sessions WHERE identity_id = %(id)s;

-- name: end_provider_sessions
-- Ends the sessions that a back-channel logout names: of a subject, of a session at the provider, or of both.
DELETE FROM sessions s
USING user_identities i, users u
WHERE i.id = s.identity_id
  AND u.id = s.user_id
  AND i.issuer = %(issuer)s
  AND (%(subject)s::text IS NULL OR i.subject = %(subject)s)
  AND (%(provider_session)s::text IS NULL OR s.provider_session = %(provider_session)s)
  AND s.provider_issued_at <= %(issued_at)s
RETURNING u.id, u.username, u.email;

-- name: list_emails_that_may_look_alike
-- The addresses that can equal a given one after Unicode folding: all addresses if it isn't ASCII.
SELECT email
FROM users
WHERE email IS NOT NULL
  AND (%(is_ascii)s = false OR email ~ '[^ -~]');

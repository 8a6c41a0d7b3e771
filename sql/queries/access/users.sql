-- Users and service accounts. Written by user administration and sign-in; deleted by admins.
-- login_attempts counts successful sign-ins, seen_at is the time of the last one. While
-- has_built_in_password is true, the user has the default password.

-- name: count_users
SELECT count(*) FROM users WHERE account_type = 'user';

-- name: exists_default_password
SELECT EXISTS (SELECT 1 FROM users WHERE has_built_in_password);

-- name: lock_users
-- Taken before the first admin is added or the last one removed, and before an unknown user is added.
LOCK TABLE users IN SHARE ROW EXCLUSIVE MODE;

-- name: lock_user
-- Sign-in, password change and reset run one after another: each locks the user before it reads the
-- hash, the sessions or the links. An update locks the table for writes before the row, as sign-in does,
-- so that it can't deadlock with the holder of lock_users.
UPDATE users
SET role_id = role_id
WHERE id = %(id)s
RETURNING id, account_type, username, email, password_hash;

-- name: insert_user
INSERT INTO users (username, email, name, role_id, password_hash, has_built_in_password)
VALUES (%(username)s, %(email)s, %(name)s, %(role_id)s, %(password_hash)s, %(has_default_password)s)
RETURNING id;

-- part: user
SELECT u.id, u.account_type, u.username, u.email, u.name, u.role_id, r.name AS role,
       u.password_hash, u.has_built_in_password, u.login_attempts AS sign_in_count, u.seen_at,
       u.created_at
FROM users u
JOIN roles r ON r.id = u.role_id

-- name: find_user
{{user}}
WHERE u.id = %(id)s;

-- name: find_user_by_login
-- A login with @ is an email: a username that equals another user's email can't be used to sign in.
{{user}}
WHERE u.account_type = 'user'
  AND CASE WHEN strpos(%(login)s::text, '@') > 0
           THEN lower(u.email) = lower(%(login)s)
           ELSE lower(u.username) = lower(%(login)s) END;

-- name: find_oldest_admin_id
SELECT min(id) FROM users WHERE account_type = 'user' AND role_id = 1;

-- name: list_users
SELECT u.id, u.account_type, u.username, u.email, u.name, u.role_id, r.name AS role,
       u.has_built_in_password, u.login_attempts AS sign_in_count, u.seen_at, u.created_at
FROM users u
JOIN roles r ON r.id = u.role_id
WHERE u.account_type = 'user'
ORDER BY u.id;

-- name: list_users_by_logins
SELECT username, email, role_id, password_hash IS NOT NULL AS has_password
FROM users
WHERE account_type = 'user'
  AND (lower(username) = ANY(%(logins)s) OR lower(email) = ANY(%(logins)s))
ORDER BY username, email;

-- name: search_users
-- Searches for the literal text in any case.
SELECT id, username, email, name, role_id
FROM users
WHERE account_type = 'user'
  AND strpos(lower(concat_ws(E'\n', username, email, name)), lower(%(text)s)) > 0
ORDER BY id
LIMIT %(limit)s;

-- name: count_admins
SELECT count(*) FILTER (WHERE account_type = 'user' AND password_hash IS NOT NULL) AS password,
       count(*) FILTER (WHERE account_type = 'user' AND password_hash IS NULL) AS no_password,
       count(*) FILTER (WHERE account_type = 'service') AS service
FROM users
WHERE role_id = 1;

-- name: count_other_admins
SELECT count(*) FROM users WHERE role_id = 1 AND account_type = 'user' AND id <> %(id)s;

-- name: update_user
UPDATE users
SET username = %(username)s, email = %(email)s, name = %(name)s, role_id = %(role_id)s
WHERE id = %(id)s;

-- name: update_password
UPDATE users
SET password_hash = %(password_hash)s, has_built_in_password = false
WHERE id = %(id)s;

-- name: replace_hash
-- A new hash of the same password. No change if the password was changed meanwhile.
UPDATE users
SET password_hash = %(new_hash)s
WHERE id = %(id)s AND password_hash = %(old_hash)s;

-- name: record_sign_in
-- Before the session is inserted. No change if the user is deleted or the verified hash is no longer
-- stored; sign-in without a password verifies none. The row is locked until the commit.
UPDATE users
SET seen_at = now(), login_attempts = login_attempts + 1
WHERE id = %(id)s
  AND (%(verified_hash)s::text IS NULL OR password_hash = %(verified_hash)s);

-- name: delete_user
DELETE FROM users WHERE id = %(id)s;

-- name: list_roles
SELECT id, name, description FROM roles ORDER BY id;

-- name: add_current_password
-- Adds the current hash to former_passwords before it is replaced; a new password must not be one of these.
INSERT INTO former_passwords (user_id, password_hash)
SELECT id, password_hash FROM users WHERE id = %(user_id)s AND password_hash IS NOT NULL;

-- name: delete_surplus_passwords
DELETE FROM former_passwords
WHERE user_id = %(user_id)s
  AND id NOT IN (
      SELECT id FROM former_passwords WHERE user_id = %(user_id)s ORDER BY id DESC LIMIT %(keep)s
  );

-- name: list_passwords
-- The hashes of the current password and the former ones.
SELECT password_hash FROM users WHERE id = %(user_id)s AND password_hash IS NOT NULL
UNION ALL
SELECT password_hash FROM former_passwords WHERE user_id = %(user_id)s;

-- Service accounts: machine users without a password. Written and deleted by admins, with their
-- tokens.

-- name: insert_service_account
INSERT INTO users (account_type, username, name, role_id)
VALUES ('service', %(username)s, %(name)s, %(role_id)s)
RETURNING id;

-- name: lock_service_account
SELECT id FROM users WHERE account_type = 'service' AND id = %(id)s FOR UPDATE;

-- name: list_service_accounts
-- All accounts or the one with this ID.
SELECT u.id, u.username, u.email, u.name, u.role_id, r.name AS role, u.created_at
FROM users u
JOIN roles r ON r.id = u.role_id
WHERE u.account_type = 'service' AND (%(id)s::bigint IS NULL OR u.id = %(id)s)
ORDER BY u.id;

-- name: update_service_account
UPDATE users
SET username = %(username)s, name = %(name)s, role_id = %(role_id)s
WHERE account_type = 'service' AND id = %(id)s;

-- name: delete_service_account
DELETE FROM users WHERE account_type = 'service' AND id = %(id)s;

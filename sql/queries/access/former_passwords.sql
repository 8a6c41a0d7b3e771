-- Hashes of former passwords. Added when a new password is set, which must not be one of these.

-- name: add_current_password
-- The current hash, before it is replaced.
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

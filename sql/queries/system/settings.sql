-- State of the installation: `instance` (its ID), `frontend` (CORS origins), `sign_in_code` (hash of
-- the one-time code that the last start printed).

-- name: find_setting
SELECT value FROM settings WHERE key = %(key)s;

-- name: put_setting
INSERT INTO settings (key, value) VALUES (%(key)s, %(value)s)
ON CONFLICT (key) DO UPDATE SET value = excluded.value;

-- name: delete_setting
-- Deletes the setting only while it has this value: if two requests use the same code, only one succeeds.
DELETE FROM settings WHERE key = %(key)s AND value = %(value)s::jsonb;

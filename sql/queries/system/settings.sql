-- What the service remembers about itself: `instance` (its id), `frontend` (origins of browsers),
-- `sign_in_code` (hash of the one-time code that the last start printed).

-- name: find_setting
SELECT value FROM settings WHERE key = %(key)s;

-- name: put_setting
INSERT INTO settings (key, value) VALUES (%(key)s, %(value)s)
ON CONFLICT (key) DO UPDATE SET value = excluded.value;

-- name: delete_setting
-- Only while it has this value: of two requests that use up one code, one does.
DELETE FROM settings WHERE key = %(key)s AND value = %(value)s::jsonb;

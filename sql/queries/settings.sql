-- What the service remembers about itself: `instance` (its id), `frontend` (origins of browsers).

-- name: find_setting
SELECT value FROM settings WHERE key = %(key)s;

-- name: put_setting
INSERT INTO settings (key, value) VALUES (%(key)s, %(value)s)
ON CONFLICT (key) DO UPDATE SET value = excluded.value;

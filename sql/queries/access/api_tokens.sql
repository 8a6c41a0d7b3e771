-- Tokens of the admin, client and frontend API. Written by admins and at first start; deleted by
-- hand, and with the last project that they open.

-- name: lock_api_tokens
-- Several processes may start on an empty table at once; one of them fills it.
LOCK TABLE api_tokens IN SHARE ROW EXCLUSIVE MODE;

-- name: count_api_tokens
SELECT count(*) FROM api_tokens;

-- name: insert_api_token
INSERT INTO api_tokens (secret_hash, secret_prefix, token_name, type, environment, projects,
                        expires_at, created_by, created_by_user_id)
VALUES (%(secret_hash)s, %(secret_prefix)s, %(token_name)s, %(type)s, %(environment)s, %(projects)s,
        %(expires_at)s, %(created_by)s, %(created_by_user_id)s)
RETURNING id, secret_prefix, token_name, type, environment, projects, created_at, expires_at,
          created_by, created_by_user_id, seen_at;

-- name: find_api_token
SELECT id, token_name, type, environment, projects, expires_at
FROM api_tokens
WHERE secret_hash = %(secret_hash)s
  AND (expires_at IS NULL OR expires_at > %(now)s);

-- name: find_api_token_to_change
-- By its secret, else by its id: a secret that somebody configured may consist of digits.
SELECT id, secret_prefix, token_name, type, environment, projects, created_at, expires_at,
       created_by, created_by_user_id, seen_at
FROM api_tokens
WHERE secret_hash = %(secret_hash)s OR id = %(id)s::bigint
ORDER BY secret_hash = %(secret_hash)s DESC
LIMIT 1;

-- name: list_api_tokens
-- All of them, or those of a name, or those that name a project.
SELECT id, secret_prefix, token_name, type, environment, projects, created_at, expires_at,
       created_by, created_by_user_id, seen_at
FROM api_tokens
WHERE (%(token_name)s::text IS NULL OR token_name = %(token_name)s)
  AND (%(project)s::text IS NULL OR %(project)s = ANY (projects))
ORDER BY id;

-- name: update_api_token
UPDATE api_tokens
SET expires_at = %(expires_at)s
WHERE id = %(id)s
RETURNING id, secret_prefix, token_name, type, environment, projects, created_at, expires_at,
          created_by, created_by_user_id, seen_at;

-- name: delete_api_token
DELETE FROM api_tokens WHERE id = %(id)s;

-- name: delete_api_tokens_of_project
-- Those that open nothing else.
DELETE FROM api_tokens
WHERE %(project)s::text = ANY (projects)
  AND projects <@ ARRAY[%(project)s::text]
RETURNING id, secret_prefix, token_name, type, environment, projects, created_at, expires_at,
          created_by, created_by_user_id, seen_at;

-- name: remove_project_of_api_tokens
UPDATE api_tokens
SET projects = array_remove(projects, %(project)s::text)
WHERE %(project)s::text = ANY (projects)
RETURNING id, secret_prefix, token_name, type, environment, projects, created_at, expires_at,
          created_by, created_by_user_id, seen_at;

-- name: mark_api_tokens_used
-- In the order of ids, so that two processes that write the same tokens don't meet crosswise.
WITH seen AS (
    SELECT t.id, s.seen_at
    FROM unnest(%(ids)s::int[], %(times)s::timestamptz[]) AS s (id, seen_at)
    JOIN api_tokens t ON t.id = s.id
    WHERE t.seen_at IS NULL OR t.seen_at < s.seen_at
    ORDER BY t.id
    FOR NO KEY UPDATE OF t
)
UPDATE api_tokens t
SET seen_at = seen.seen_at
FROM seen
WHERE t.id = seen.id;

-- name: find_scope
-- What of a new token's scope there is not.
SELECT EXISTS (SELECT 1 FROM environments WHERE name = %(environment)s) AS has_environment,
       ARRAY(SELECT p
             FROM unnest(%(projects)s::text[]) WITH ORDINALITY AS given (p, n)
             WHERE NOT EXISTS (SELECT 1 FROM projects WHERE id = p)
             ORDER BY n) AS unknown_projects;

-- name: find_choices
-- What a new token may be for.
SELECT ARRAY(SELECT name FROM environments ORDER BY sort_order, name) AS environments,
       ARRAY(SELECT id FROM projects ORDER BY id) AS projects;

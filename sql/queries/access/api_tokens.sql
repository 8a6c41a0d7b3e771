-- Tokens of the admin, client and frontend API. Written by admins and at the first start; deleted by
-- admins, and with the last project that they give access to. seen_at is the time of the last use.

-- name: lock_api_tokens
-- Several processes may start with an empty table at once; one of them fills it.
LOCK TABLE api_tokens IN SHARE ROW EXCLUSIVE MODE;

-- name: count_api_tokens
SELECT count(*) FROM api_tokens;

-- name: find_existing_api_tokens
SELECT secret_hash FROM api_tokens WHERE secret_hash = ANY(%(secret_hashes)s::bytea[]);

-- name: insert_api_token
INSERT INTO api_tokens (secret_hash, secret_prefix, token_name, type, environment, projects,
                        expires_at, created_by, created_by_user_id)
VALUES (%(secret_hash)s, %(secret_prefix)s, %(token_name)s, %(type)s, %(environment)s, %(projects)s,
        %(expires_at)s, %(created_by)s, %(created_by_user_id)s)
RETURNING id, secret_prefix, token_name, type, environment, projects, created_at, expires_at,
          created_by, created_by_user_id, seen_at;

-- name: find_api_token, planned once
SELECT id, token_name, type, environment, projects, expires_at
FROM api_tokens
WHERE secret_hash = %(secret_hash)s
  AND (expires_at IS NULL OR expires_at > %(now)s);

-- name: find_api_token_by_id
-- For the signed address of an event stream; the hash is the key of its signature.
SELECT id, secret_hash, token_name, type, environment, projects, expires_at
FROM api_tokens
WHERE id = %(id)s::bigint
  AND (expires_at IS NULL OR expires_at > %(now)s);

-- name: list_api_token_scopes
-- For open streams, after tokens have changed.
SELECT id, projects, expires_at
FROM api_tokens
WHERE id = ANY(%(ids)s::bigint[]);

-- name: find_api_token_to_change
-- By secret, else by ID: a configured secret may consist of digits.
SELECT id, secret_prefix, token_name, type, environment, projects, created_at, expires_at,
       created_by, created_by_user_id, seen_at
FROM api_tokens
WHERE secret_hash = %(secret_hash)s OR id = %(id)s::bigint
ORDER BY secret_hash = %(secret_hash)s DESC
LIMIT 1;

-- name: list_api_tokens
-- All tokens, or the tokens with one name; the filters are optional.
SELECT id, secret_prefix, token_name, type, environment, projects, created_at, expires_at,
       created_by, created_by_user_id, seen_at
FROM api_tokens
WHERE (%(token_name)s::text IS NULL OR token_name = %(token_name)s)
  AND (%(project)s::text IS NULL OR %(project)s = ANY (projects))
ORDER BY id;

-- name: update_api_token
UPDATE api_tokens
SET expires_at = %(expires_at)s
WHERE id = %(id)s;

-- name: delete_api_token
DELETE FROM api_tokens WHERE id = %(id)s;

-- name: remove_project_from_api_tokens
-- Deletes tokens without another project.
WITH deleted AS (
    DELETE FROM api_tokens
    WHERE %(project)s::text = ANY (projects)
      AND projects <@ ARRAY[%(project)s::text]
)
UPDATE api_tokens
SET projects = array_remove(projects, %(project)s::text)
WHERE %(project)s::text = ANY (projects)
  AND NOT projects <@ ARRAY[%(project)s::text];

-- name: mark_api_tokens_used
-- Locks in the order of IDs, so that two processes can't deadlock.
WITH uses AS (
    SELECT t.id, n.used_at
    FROM unnest(%(ids)s::int[], %(times)s::timestamptz[]) AS n (id, used_at)
    JOIN api_tokens t ON t.id = n.id
    WHERE t.seen_at IS NULL OR t.seen_at < n.used_at
    ORDER BY t.id
    FOR NO KEY UPDATE OF t
)
UPDATE api_tokens t
SET seen_at = uses.used_at
FROM uses
WHERE t.id = uses.id;

-- name: find_missing_scope
-- The parts of a new token's scope that don't exist.
SELECT EXISTS (SELECT 1 FROM environments WHERE name = %(environment)s) AS has_environment,
       ARRAY(SELECT p
             FROM unnest(%(projects)s::text[]) WITH ORDINALITY AS names (p, n)
             WHERE NOT EXISTS (SELECT 1 FROM projects WHERE id = p)
             ORDER BY n) AS unknown_projects;

-- name: find_choices
-- The choices of environment and projects for a new token.
SELECT ARRAY(SELECT name FROM environments ORDER BY sort_order, name) AS environments,
       ARRAY(SELECT id FROM projects ORDER BY id) AS projects;

-- name: list_valid_tokens
-- Excludes admin tokens, so that a guess at one is never confirmed.
SELECT secret_hash, type, environment, projects
FROM api_tokens
WHERE secret_hash = ANY(%(secret_hashes)s::bytea[])
  AND type <> 'admin'
  AND (expires_at IS NULL OR expires_at > now());

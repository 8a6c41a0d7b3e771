-- Tokens of the admin, client and frontend API. Written at first start; deleted by hand.

-- name: lock_api_tokens
-- Several processes may start on an empty table at once; one of them fills it.
LOCK TABLE api_tokens IN SHARE ROW EXCLUSIVE MODE;

-- name: count_api_tokens
SELECT count(*) FROM api_tokens;

-- name: insert_api_token
INSERT INTO api_tokens (secret_hash, secret_prefix, token_name, type, environment, projects)
VALUES (%(secret_hash)s, %(secret_prefix)s, %(token_name)s, %(type)s, %(environment)s, %(projects)s)
RETURNING id;

-- name: find_api_token
SELECT id, token_name, type, environment, projects, expires_at
FROM api_tokens
WHERE secret_hash = %(secret_hash)s
  AND (expires_at IS NULL OR expires_at > now());

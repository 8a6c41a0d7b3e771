-- What relays ask: which of the tokens that they were given are ours.

-- name: list_valid_tokens
SELECT secret_hash, type, environment, projects
FROM api_tokens
WHERE secret_hash = ANY(%(secret_hashes)s::bytea[])
  AND (expires_at IS NULL OR expires_at > now());

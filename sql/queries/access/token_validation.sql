-- What relays ask: which of the tokens that they were given are ours.

-- name: list_valid_tokens
-- No admin tokens: a guess at one must not be confirmed.
SELECT secret_hash, type, environment, projects
FROM api_tokens
WHERE secret_hash = ANY(%(secret_hashes)s::bytea[])
  AND type <> 'admin'
  AND (expires_at IS NULL OR expires_at > now());

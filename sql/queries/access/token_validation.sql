-- The validation of tokens for relays.

-- name: list_valid_tokens
-- Without admin tokens, so that a guess at one is never confirmed.
SELECT secret_hash, type, environment, projects
FROM api_tokens
WHERE secret_hash = ANY(%(secret_hashes)s::bytea[])
  AND type <> 'admin'
  AND (expires_at IS NULL OR expires_at > now());

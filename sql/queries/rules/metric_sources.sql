-- Servers with the API of Prometheus that alert rules query. Written by admins, under lock_signal_endpoints, like
-- everything that is encrypted, and deleted by them. Senders of queries write `claimed_until`.

-- name: list_metric_sources
-- All sources by name, or the one with this name.
SELECT name, url, auth, headers, timeout_seconds, encrypted_secret, created_at
FROM metric_sources
WHERE %(name)s::text IS NULL OR name = %(name)s
ORDER BY name;

-- name: keep_metric_source
-- Nobody deletes the source until the transaction ends.
SELECT true
FROM metric_sources
WHERE name = %(name)s
FOR KEY SHARE;

-- name: lock_metric_sources
-- All sources by name. No other process claims one until the transaction ends.
SELECT name, url, auth, headers, timeout_seconds, encrypted_secret, claimed_until
FROM metric_sources
ORDER BY name
FOR NO KEY UPDATE;

-- name: claim_metric_sources
-- Claims the sources that are free, for their timeout and `margin` seconds.
UPDATE metric_sources
SET claimed_until = %(now)s::timestamptz + make_interval(secs => timeout_seconds + %(margin)s)
WHERE name = ANY(%(names)s)
  AND (claimed_until <= %(now)s::timestamptz) IS NOT FALSE
RETURNING name, claimed_until;

-- name: renew_metric_source_claim
-- Returns no row if the claim has ended and another process has claimed the source.
UPDATE metric_sources
SET claimed_until = %(now)s::timestamptz + make_interval(secs => timeout_seconds + %(margin)s)
WHERE name = %(name)s
  AND claimed_until = %(until)s
RETURNING claimed_until;

-- name: release_metric_source
UPDATE metric_sources
SET claimed_until = NULL
WHERE name = %(name)s
  AND claimed_until = %(until)s;

-- name: put_metric_source
INSERT INTO metric_sources (name, url, auth, headers, timeout_seconds, encrypted_secret)
VALUES (%(name)s, %(url)s, %(auth)s::jsonb, %(headers)s::jsonb, %(timeout_seconds)s, %(encrypted_secret)s)
ON CONFLICT (name) DO UPDATE
SET url = excluded.url, auth = excluded.auth, headers = excluded.headers,
    timeout_seconds = excluded.timeout_seconds, encrypted_secret = excluded.encrypted_secret;

-- name: list_metric_source_uses
-- The alert rules and active releases that query a source.
SELECT condition -> 'source' ->> 'source' AS source, 'alert rule ' || name AS text
FROM alert_rules
WHERE condition -> 'source' ->> 'kind' = 'prometheus'
UNION
SELECT definition -> 'rule' -> 'source' ->> 'source', 'release ' || release_id
FROM release_guards
WHERE is_watching
  AND definition -> 'rule' -> 'source' ->> 'kind' = 'prometheus'
ORDER BY 1, 2;

-- name: delete_metric_source
DELETE FROM metric_sources WHERE name = %(name)s;

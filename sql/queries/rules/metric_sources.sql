-- Servers with the API of Prometheus that alert rules query. Written by admins, under lock_signal_endpoints, like
-- everything that is encrypted, and deleted by them.

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
-- All sources by name. No other process leases rules until the transaction ends.
SELECT name, url, auth, headers, timeout_seconds, encrypted_secret
FROM metric_sources
ORDER BY name
FOR NO KEY UPDATE;

-- name: put_metric_source
INSERT INTO metric_sources (name, url, auth, headers, timeout_seconds, encrypted_secret)
VALUES (%(name)s, %(url)s, %(auth)s::jsonb, %(headers)s::jsonb, %(timeout_seconds)s, %(encrypted_secret)s)
ON CONFLICT (name) DO UPDATE
SET url = excluded.url, auth = excluded.auth, headers = excluded.headers,
    timeout_seconds = excluded.timeout_seconds, encrypted_secret = excluded.encrypted_secret;

-- name: list_metric_source_uses
-- The alert rules and active releases that query a source.
SELECT DISTINCT r.condition -> 'source' ->> 'source' AS source,
       coalesce('alert rule ' || r.name, 'release ' || g.release_id) AS text
FROM alert_rules r
LEFT JOIN release_guards g ON g.id = r.guard_id
WHERE r.condition -> 'source' ->> 'kind' = 'prometheus' AND (r.guard_id IS NULL OR g.is_watching)
ORDER BY 1, 2;

-- name: delete_metric_source
DELETE FROM metric_sources WHERE name = %(name)s;

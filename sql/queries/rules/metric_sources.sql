-- Servers with the API of Prometheus that alert rules query. Written and deleted by admins, under
-- lock_signal_endpoints, like everything that is encrypted.

-- name: list_metric_sources
-- All sources by name, or the one with this name.
SELECT name, url, auth, headers, timeout_seconds, encrypted_secret, created_at
FROM metric_sources
WHERE %(name)s::text IS NULL OR name = %(name)s
ORDER BY name;

-- name: put_metric_source
INSERT INTO metric_sources (name, url, auth, headers, timeout_seconds, encrypted_secret)
VALUES (%(name)s, %(url)s, %(auth)s::jsonb, %(headers)s::jsonb, %(timeout_seconds)s, %(encrypted_secret)s)
ON CONFLICT (name) DO UPDATE
SET url = excluded.url, auth = excluded.auth, headers = excluded.headers,
    timeout_seconds = excluded.timeout_seconds, encrypted_secret = excluded.encrypted_secret;

-- name: list_metric_source_uses
-- The alert rules and the releases that are under way whose queries go to a source.
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

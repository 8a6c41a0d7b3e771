-- Counts of everything in an installation, for its admins and for monitoring.

-- part: active_users
count(*) FILTER (WHERE seen_at > now() - interval '7 days') AS active_7,
count(*) FILTER (WHERE seen_at > now() - interval '30 days') AS active_30,
count(*) FILTER (WHERE seen_at > now() - interval '60 days') AS active_60,
count(*) FILTER (WHERE seen_at > now() - interval '90 days') AS active_90

-- part: tokens_and_applications
CROSS JOIN (
    SELECT count(*) FILTER (WHERE type = 'admin') AS admin_tokens,
           count(*) FILTER (WHERE type = 'client') AS client_tokens,
           count(*) FILTER (WHERE type = 'frontend') AS frontend_tokens
    FROM api_tokens
) t
CROSS JOIN (
    SELECT count(*) AS apps,
           count(*) FILTER (WHERE seen_at > now() - interval '30 days') AS apps_30,
           count(*) FILTER (WHERE seen_at > now() - interval '7 days') AS apps_7
    FROM client_applications
) a

-- part: counts_of_both
(SELECT count(*) FROM segments) AS segments,
(SELECT count(*) FROM strategy_types) AS strategies,
(SELECT count(*) FROM context_fields) AS context_fields,
t.admin_tokens, t.client_tokens, t.frontend_tokens,
a.apps, a.apps_30, a.apps_7,

-- name: count_everything
SELECT
    (SELECT value ->> 'id' FROM settings WHERE key = 'instance') AS instance_id,
    u.users, u.read_only_users, u.active_7, u.active_30, u.active_60, u.active_90,
    (SELECT count(*) FROM roles) AS roles,
    (SELECT count(*) FROM features WHERE archived_at IS NULL) AS features,
    (SELECT count(*) FROM projects) AS projects,
    (SELECT count(*) FROM environments) AS environments,
    {{counts_of_both}}
    (SELECT count(*) FROM events WHERE type = 'features-imported') AS imports,
    (SELECT count(*) FROM client_metrics WHERE hour >= d.day - interval '1 day' AND hour < d.day)
        AS yesterdays_metrics,
    (SELECT count(*) FROM client_metrics_variants
     WHERE hour >= d.day - interval '1 day' AND hour < d.day) AS yesterdays_variants,
    (SELECT COALESCE(max(n), 0)
     FROM (SELECT count(*) AS n FROM feature_strategies GROUP BY feature, environment) counted)
        AS max_strategies,
    (SELECT COALESCE(max(jsonb_array_length(constraints)), 0) FROM feature_strategies)
        AS max_constraints,
    (SELECT COALESCE(max(jsonb_array_length(c -> 'values')), 0)
     FROM feature_strategies
     CROSS JOIN jsonb_array_elements(constraints) AS c
     WHERE jsonb_typeof(c -> 'values') = 'array') AS max_constraint_values
FROM (
    SELECT count(*) AS users,
           count(*) FILTER (WHERE r.name = 'Viewer') AS read_only_users,
           {{active_users}}
    FROM users
    JOIN roles r ON r.id = role_id
    WHERE account_type = 'user'
) u
{{tokens_and_applications}}
CROSS JOIN (SELECT date_trunc('day', now(), 'UTC') AS day) d;

-- name: count_for_metrics, planned once
-- All gauges of a scrape in one statement; `reported` are names of flags that SDKs evaluate.
SELECT
    current_setting('server_version') AS postgres_version,
    f.features, f.archived_features,
    (SELECT count(*)
     FROM unnest(%(reported)s::text[]) AS r (name)
     WHERE NOT EXISTS (SELECT 1 FROM features known WHERE known.name = r.name))
        AS unknown_features,
    u.users, u.active_7, u.active_30, u.active_60, u.active_90,
    (SELECT COALESCE(jsonb_object_agg(mode, n), '{}')
     FROM (SELECT mode, count(*) AS n FROM projects GROUP BY mode) p) AS projects,
    (SELECT count(*) FROM environments) AS environments,
    (SELECT COALESCE(jsonb_object_agg(name, type), '{}') FROM environments) AS environment_types,
    (SELECT count(*) FROM roles) AS roles,
    {{counts_of_both}}
    (SELECT jsonb_build_object('ok', count(*) FILTER (WHERE enabled AND state = 'ok'),
                               'firing', count(*) FILTER (WHERE enabled AND state = 'firing'),
                               'unknown', count(*) FILTER (WHERE enabled AND state = 'unknown'),
                               'disabled', count(*) FILTER (WHERE NOT enabled))
     FROM alert_rules WHERE guard_id IS NULL) AS alert_rules,
    q.queue_signals, q.queue_seconds, d.deliveries_waiting, d.deliveries_seconds,
    COALESCE((SELECT max(id) FROM events)
             - (SELECT event_id FROM audit_log_position
                WHERE leased_until > now() - interval '10 minutes'), 0) AS audit_log_waiting
FROM (
    SELECT count(*) FILTER (WHERE archived_at IS NULL) AS features,
           count(archived_at) AS archived_features
    FROM features
) f
CROSS JOIN (
    SELECT count(*) AS users,
           {{active_users}}
    FROM users
    WHERE account_type = 'user'
) u
{{tokens_and_applications}}
CROSS JOIN (
    SELECT count(*) AS queue_signals,
           COALESCE(extract(epoch FROM now() - min(queued_at)), 0)::float8 AS queue_seconds
    FROM signal_queue
) q
CROSS JOIN (
    SELECT count(*) AS deliveries_waiting,
           COALESCE(extract(epoch FROM now() - min(created_at)), 0)::float8 AS deliveries_seconds
    FROM outbox
    WHERE kind = 'integration' AND sent_at IS NULL AND given_up_at IS NULL
) d;

-- How much there is of everything, for people and tools that watch over an installation.

-- name: count_everything
SELECT
    (SELECT value ->> 'id' FROM settings WHERE key = 'instance') AS instance_id,
    u.users, u.read_only_users, u.active_7, u.active_30, u.active_60, u.active_90,
    (SELECT count(*) FROM roles) AS roles,
    (SELECT count(*) FROM features WHERE archived_at IS NULL) AS features,
    (SELECT count(*) FROM projects) AS projects,
    (SELECT count(*) FROM environments) AS environments,
    (SELECT count(*) FROM segments) AS segments,
    (SELECT count(*) FROM strategy_types) AS strategies,
    (SELECT count(*) FROM context_fields) AS context_fields,
    t.admin_tokens, t.client_tokens, t.frontend_tokens,
    a.apps, a.apps_30, a.apps_7,
    (SELECT count(*) FROM events WHERE type = 'features-exported') AS exports,
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
           count(*) FILTER (WHERE seen_at > now() - interval '7 days') AS active_7,
           count(*) FILTER (WHERE seen_at > now() - interval '30 days') AS active_30,
           count(*) FILTER (WHERE seen_at > now() - interval '60 days') AS active_60,
           count(*) FILTER (WHERE seen_at > now() - interval '90 days') AS active_90
    FROM users
    JOIN roles r ON r.id = role_id
    WHERE account_type = 'user'
) u
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
CROSS JOIN (SELECT date_trunc('day', now(), 'UTC') AS day) d;

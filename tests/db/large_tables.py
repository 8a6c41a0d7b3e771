"""Rows for large tables, which the server never analyzes on its own.

5000 flags with three strategies each, 250,000 signals, 200,000 events, and what belongs to them.
"""

from __future__ import annotations

from typing import Any

FLAGS = 5000
SIGNALS = 250_000
EVENTS = 200_000
ROWS = """
INSERT INTO environments (name, type, sort_order)
SELECT 'env-' || n, 'test', n FROM generate_series(1, 3) n;

INSERT INTO projects (id, name)
SELECT 'project-' || n, 'Project ' || n FROM generate_series(0, 9) n;

INSERT INTO project_environments (project, environment)
SELECT p.id, e.name FROM projects p CROSS JOIN environments e ON CONFLICT DO NOTHING;

INSERT INTO users (account_type, username, email, role_id)
SELECT 'user', 'user-' || n, 'user-' || n || '@example.com', 2 FROM generate_series(1, 500) n;

INSERT INTO features (name, project, type, description, stale, created_by, created_at)
SELECT 'flag-' || n, 'project-' || n % 10, 'release', 'Flag number ' || n, n % 20 = 0, 'user-1',
       now() - n * interval '1 minute'
FROM generate_series(1, {flags}) n;

INSERT INTO feature_environments (feature, environment, enabled)
SELECT f.name, e.name, true FROM features f CROSS JOIN environments e;

INSERT INTO segments (name, constraints, created_by)
SELECT 'segment-' || n, '[{{"contextName": "region", "operator": "IN", "values": ["a", "b"]}}]',
       'user-1'
FROM generate_series(1, 200) n;

INSERT INTO feature_strategies (id, feature, environment, name, sort_order, parameters, constraints)
SELECT gen_random_uuid()::text, 'flag-' || n, 'env-1', 'flexibleRollout', k,
       jsonb_build_object('rollout', '50', 'groupId', 'flag-' || n, 'stickiness', 'default'),
       '[{{"contextName": "userId", "operator": "IN", "values": ["1", "2", "3"]}}]'
FROM generate_series(1, {flags}) n CROSS JOIN generate_series(1, 3) k;

INSERT INTO strategy_segments (strategy_id, segment_id)
SELECT s.id, g.id
FROM (SELECT id, row_number() OVER () AS n FROM feature_strategies) s
JOIN (SELECT id, row_number() OVER () - 1 AS n FROM segments) g ON g.n = s.n % 200
WHERE s.n % 3 = 0;

INSERT INTO tags (type, value) SELECT 'simple', 'tag-' || n FROM generate_series(0, 49) n;

INSERT INTO feature_tags (feature, type, value)
SELECT 'flag-' || n, 'simple', 'tag-' || (n + k * 7) % 50
FROM generate_series(1, {flags}) n CROSS JOIN generate_series(0, 1) k;

INSERT INTO feature_dependencies (child, parent)
SELECT 'flag-' || n, 'flag-' || n - 1 FROM generate_series(2, {flags}, 5) n;

INSERT INTO feature_last_seen (feature, environment, seen_at)
SELECT f.name, e.name, now() FROM features f CROSS JOIN environments e;

INSERT INTO feature_stages (feature, stage)
SELECT f.name, s.stage FROM features f CROSS JOIN (VALUES ('initial'), ('pre-live')) s (stage);

INSERT INTO revision_changes (revision, previous, flags, segments)
SELECT 3600000 + n, 3600000 + n - 1, ARRAY['flag-' || n % {flags} + 1], '{{}}'
FROM generate_series(1, 25000) n;

INSERT INTO favorite_features (user_id, feature)
SELECT 1, 'flag-' || n FROM generate_series(1, 100) n;

INSERT INTO client_applications (app_name) SELECT 'app-' || n FROM generate_series(0, 199) n;

INSERT INTO client_application_environments (environment, sdk_type, app_name)
SELECT 'env-1', 'backend', 'app-' || n FROM generate_series(0, 199) n;

INSERT INTO client_instances (app_name, instance_id, environment, sdk_version, sdk_type)
SELECT 'app-' || n % 200, 'instance-' || n, 'env-1', 'sdk:1.0', 'backend'
FROM generate_series(1, 20000) n;

INSERT INTO client_metrics (feature, app_name, environment, hour, yes, no)
SELECT 'flag-' || n, 'app-' || n % 200, 'env-1', date_trunc('hour', now() - h * interval '1 hour'),
       1, 1
FROM generate_series(1, {flags}) n CROSS JOIN generate_series(0, 23) h;

INSERT INTO client_metrics_variants (feature, app_name, environment, hour, variant, count)
SELECT feature, app_name, environment, hour, 'blue', 1 FROM client_metrics;

INSERT INTO sessions (id_hash, user_id, created_at, expires_at)
SELECT sha256(('session-' || n)::bytea), (SELECT max(id) FROM users), now(),
       now() + interval '1 day'
FROM generate_series(1, 2000) n;

INSERT INTO api_tokens (secret_hash, secret_prefix, token_name, type, environment, projects)
SELECT sha256(('token-' || n)::bytea), 'x', 'token-' || n, 'client', 'env-1', '{{*}}'
FROM generate_series(1, 2000) n;

INSERT INTO signal_endpoints (name, created_by_user_id)
SELECT 'endpoint-' || n, 1 FROM generate_series(0, 19) n;

INSERT INTO signal_endpoint_tokens (signal_endpoint_id, name, secret_hash, secret_prefix,
                                    created_by_user_id)
SELECT id, 'token', sha256(name::bytea), 'x', 1 FROM signal_endpoints;

INSERT INTO signals (endpoint_id, token_id, payload, payload_bytes, created_at)
SELECT t.signal_endpoint_id, t.id, '{{"a":1}}', 7, now() - ({signals} - n) * interval '4 seconds'
FROM generate_series(1, {signals}) n
JOIN (SELECT id, signal_endpoint_id, row_number() OVER () - 1 AS number
      FROM signal_endpoint_tokens) t ON t.number = n % 20
ORDER BY n;

INSERT INTO signal_results (signal_id, results)
SELECT id, '[]' FROM (SELECT id FROM signals ORDER BY id DESC LIMIT 25000) s;

INSERT INTO signal_queue (signal_id, endpoint_id)
SELECT id, endpoint_id FROM (SELECT id, endpoint_id FROM signals ORDER BY id DESC LIMIT 2000) s;

INSERT INTO action_sets (project, name, actor_id, endpoint_id, settings, created_by_user_id)
SELECT 'project-0', 'set-' || n || '-' || e.name, 1, e.id,
       '{{"restoreWhenResolved": {{"key": "key"}}}}', 1
FROM signal_endpoints e CROSS JOIN generate_series(1, 5) n;

INSERT INTO actions (action_set_id, sort_order, kind, created_by_user_id)
SELECT id, 1, 'TOGGLE_FEATURE', 1 FROM action_sets;

INSERT INTO action_runs (action_set_id, project, cause, signal_id, actor_id, state, action_set,
                         alert_key, signal, created_at, finished_at)
SELECT s.id, s.project, 'signal', n, 1, 'success',
       jsonb_build_object('name', s.name, 'actions', jsonb_build_array(jsonb_build_object('changes',
           jsonb_build_array(jsonb_build_object('what', 'state', 'feature', 'flag-' || n % {flags},
                                                'environment', 'env-1', 'after', true))))),
       'alert-' || n % 50, '{{"payload":{{"a":1}}}}', now() - (25000 - n) * interval '120 seconds',
       now()
FROM generate_series(1, 25000) n
JOIN (SELECT id, name, project, row_number() OVER () - 1 AS number
      FROM action_sets) s ON s.number = n % 100
ORDER BY n;

INSERT INTO alerts (action_set_id, key_hash, key, endpoint_id, key_path, is_firing, run_id,
                    reported_at)
SELECT s.id, sha256(convert_to('alert-' || n, 'UTF8')), 'alert-' || n, s.endpoint_id, 'key', true,
       r.id, r.created_at
FROM action_sets s
CROSS JOIN generate_series(1, 500) n
JOIN action_runs r ON r.id = n * 50;

INSERT INTO holds (run_id, position, action_set_id, feature, environment, change, held_at)
SELECT id, 0, action_set_id, 'flag-' || id % 5000, 'env-1',
       '{{"what": "state", "before": false, "after": true}}', created_at
FROM action_runs WHERE id % 10 = 0;

INSERT INTO outbox (kind, subject_id, target, sent_at)
SELECT 'run', id, '{{}}', now() FROM action_runs WHERE id % 10 = 0;

INSERT INTO events (type, created_by, created_by_user_id, project, environment, feature_name, data,
                    created_at)
SELECT (ARRAY['feature-created', 'feature-strategy-add', 'feature-environment-enabled',
              'feature-metadata-updated', 'feature-tagged'])[n % 5 + 1],
       'user-' || n % 500, n % 500, 'project-' || n % 10, 'env-1', 'flag-' || n % {flags},
       '{{"name": "x"}}', now() - ({events} - n) * interval '10 seconds'
FROM generate_series(1, {events}) n
ORDER BY n;

INSERT INTO events (type, created_by, data)
SELECT 'release-guard-fired', 'system',
       jsonb_build_object('releaseId', n % 1000, 'guard', '{{"id": 1}}'::jsonb)
FROM generate_series(1, {events} / 10) n;
"""


def fill_large_tables(conn: Any) -> None:
    """Fills the tables of a service that has only started; the server doesn't analyze them.

    Constraints are not checked; the rows of each statement refer to those before it.
    """
    with conn.cursor() as cursor:
        cursor.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        for (name,) in cursor.fetchall():
            cursor.execute(f"ALTER TABLE {name} SET (autovacuum_enabled = false)")
        cursor.execute("SET session_replication_role = replica")
        cursor.execute(ROWS.format(flags=FLAGS, signals=SIGNALS, events=EVENTS))
        cursor.execute("RESET session_replication_role")

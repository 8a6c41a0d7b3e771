"""The rows of `lists.py`: signals, events, runs and flags, inserted by SQL in a minute."""

from typing import Any

import psycopg2
from service import Service

LARGE = {"signals": 1_000_000, "events": 1_000_000, "runs": 100_000, "flags": 5_000}
SMALL = {name: count // 100 for name, count in LARGE.items()}
# One signal and one event a minute, so that a day has as many in both services. Of the flags, 50
# are stale, enabled, tagged and of type release, and 50 more are archived: each page is full.
INSERTS = """
INSERT INTO signals (endpoint_id, token_id, payload, payload_bytes, created_at)
SELECT %(endpoint)s, CASE WHEN n %% 3 = 0 THEN %(token)s ELSE %(token)s - 1 END,
       json_build_object('n', n, 'text', repeat('x', 200)), 230,
       now() - make_interval(mins => %(signals)s - n)
FROM generate_series(1, %(signals)s) n;

INSERT INTO features (name, project, type, description, created_by, stale, archived_at, created_at)
SELECT 'flag-' || lpad(n::text, 5, '0'), 'default',
       CASE WHEN n %% (%(flags)s / 50) = 0 THEN 'release' ELSE 'experiment' END, 'A flag.', 'bench',
       n %% (%(flags)s / 50) = 0, CASE WHEN n > %(flags)s THEN now() END,
       now() - make_interval(secs => n)
FROM generate_series(1, %(flags)s + 50) n;
INSERT INTO feature_environments (feature, environment, enabled)
SELECT f.name, e.environment, f.stale
FROM features f
CROSS JOIN unnest(ARRAY['development', 'production']) AS e (environment);
INSERT INTO feature_last_seen (feature, environment, seen_at)
SELECT feature, environment, now() FROM feature_environments;
INSERT INTO feature_strategies (id, feature, environment, name, sort_order, parameters)
SELECT gen_random_uuid()::text, feature, environment, 'flexibleRollout', 0,
       '{"rollout": "50", "stickiness": "default"}'
FROM feature_environments;
INSERT INTO tags (type, value) VALUES ('simple', 'team-a'), ('simple', 'team-b');
INSERT INTO feature_tags (feature, type, value)
SELECT name, 'simple', CASE WHEN stale THEN 'team-a' ELSE 'team-b' END FROM features;

INSERT INTO events (type, created_by, created_by_user_id, project, environment, feature_name, data,
                    created_at)
SELECT (ARRAY['feature-created', 'feature-environment-enabled', 'feature-environment-disabled',
              'feature-strategy-add'])[1 + n %% 4],
       'bench', 1, 'default', 'development', 'flag-' || lpad((1 + n %% 50)::text, 5, '0'),
       json_build_object('name', 'flag', 'description', repeat('y', 100)),
       now() - make_interval(mins => %(events)s - n)
FROM generate_series(1, %(events)s) n;

INSERT INTO action_runs (action_set_id, project, cause, signal_id, actor_id, state, signal,
                         action_set, created_at, finished_at)
SELECT a.id, a.project, 'signal', s.id, a.actor_id, 'success', s.payload,
       jsonb_build_object('name', a.name, 'actions', '[]'::jsonb), s.created_at, s.created_at
FROM (SELECT id, payload, created_at FROM signals ORDER BY id DESC LIMIT %(runs)s) s
CROSS JOIN action_sets a
ORDER BY s.id;
"""


def fill(service: Service, counts: dict[str, int]) -> dict[str, Any]:
    """Inserts the rows; returns the values of the addresses."""
    endpoint, _ = service.create_signal_token("bench")
    path = f"/api/admin/signal-endpoints/{endpoint}/tokens"
    token = service.send(path, {"name": "second"})["id"]
    service.create_flag("checkout")
    actor = service.create_service_account()
    service.create_action_set("on", actor, endpoint, "on", "checkout")
    conn = psycopg2.connect(host=f"{service.data}/socket", user="sigservice", dbname="postgres")
    conn.autocommit = True
    values = {"endpoint": endpoint, "token": token, "middle": (counts["flags"] - 50) // 2}
    with conn.cursor() as cursor:
        for statement in INSERTS.split(";\n"):
            if statement.strip():
                cursor.execute(statement, values | counts)
        cursor.execute("VACUUM ANALYZE")
        for table in ("signals", "events", "action_runs"):
            cursor.execute(f"SELECT (min(id) + max(id)) / 2 FROM {table}")
            values[table] = cursor.fetchone()[0]
        cursor.execute("SELECT min(id), current_date::text FROM action_sets")
        values["set"], values["today"] = cursor.fetchone()
    conn.close()
    return values

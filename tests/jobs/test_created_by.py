"""Past events and flags get the id of whoever made them, 100 at a time, and block nobody."""

from __future__ import annotations

import threading

from sigservice.jobs import created_by
from tests.conftest import ADMIN

METRICS = "/internal-backstage/prometheus"


def test_events(service, cast, rows, web):
    rows("DELETE FROM events")
    for author, type in (
        ("ada", "x"),
        ("ED", "x"),
        ("system", "x"),
        ("unknown", "x"),
        ("init-api-tokens", "x"),
        ("init-api-tokens", "api-token-created"),
        ("admin", "x"),
        ("nobody", "x"),
    ):
        rows("INSERT INTO events (type, created_by) VALUES (%s, %s)", type, author)
    assert created_by.fill_events(service.context) == 6
    assert created_by.fill_events(service.context) == 0
    ids = dict(rows("SELECT username, id FROM users"))
    found = rows("SELECT created_by, type, created_by_user_id FROM events ORDER BY id")
    assert found == [
        ("ada", "x", ids["ada"]),
        ("ED", "x", ids["ed"]),
        ("system", "x", -1337),
        ("unknown", "x", -1337),
        ("init-api-tokens", "x", None),
        ("init-api-tokens", "api-token-created", -1337),
        ("admin", "x", -42),
        ("nobody", "x", None),
    ]
    assert "event_created_by_migration_count 6.0" in web.get(METRICS).text


def test_flags_follow_the_event_of_their_creation(service, web, rows):
    for name in ("by-ada", "by-token", "by-nobody", "known", "again", "no-event"):
        path = "/api/admin/projects/default/features"
        web.post_json(path, {"name": name}, headers=ADMIN, status=201)
    rows("UPDATE features SET created_by_user_id = NULL WHERE name <> 'known'")
    rows("UPDATE events SET created_by = 'Ada' WHERE feature_name IN ('by-ada', 'again')")
    rows("UPDATE events SET created_by = 'nobody' WHERE feature_name = 'by-nobody'")
    rows("DELETE FROM events WHERE feature_name = 'no-event'")
    rows("INSERT INTO events (type, created_by, feature_name) VALUES "
         "('feature-created', 'admin', 'again'), ('feature-archived', 'ada', 'again')")  # fmt: skip
    assert created_by.fill_features(service.context) == 3
    assert created_by.fill_features(service.context) == 0
    (ada,) = rows("SELECT id FROM users WHERE username = 'ada'")
    assert dict(rows("SELECT name, created_by_user_id FROM features")) == {
        "by-ada": ada[0],
        "by-token": -42,
        "by-nobody": None,
        "known": -42,
        "again": -42,
        "no-event": None,
    }
    assert "feature_created_by_migration_count 3.0" in web.get(METRICS).text


def test_100_at_a_time_the_newest_first_and_each_once(service, rows):
    rows("DELETE FROM events")
    rows("INSERT INTO events (type, created_by) SELECT 'x', 'ada' FROM generate_series(1, 250)")
    rows(
        "INSERT INTO features (name, project, type, created_by, created_at) "
        "SELECT 'f' || n, 'default', 'release', 'ada', now() - make_interval(mins => n) "
        "FROM generate_series(1, 150) n"
    )
    rows(
        "INSERT INTO events (type, created_by, created_by_user_id, feature_name) "
        "SELECT 'feature-created', 'ada', 1, name FROM features"
    )
    assert created_by.fill_features(service.context) == 100
    left = "SELECT min(substr(name, 2)::int) FROM features WHERE created_by_user_id IS NULL"
    assert rows(left) == [(101,)]
    done = []
    processes = [
        threading.Thread(target=lambda: done.append(created_by.fill_events(service.context)))
        for _ in range(3)
    ]
    for one in processes:
        one.start()
    for one in processes:
        one.join()
    assert sum(done) + created_by.fill_events(service.context) == 250
    assert max(done) == 100

"""Past events and flags get the ID of their author, in batches of 100."""

from __future__ import annotations

import threading

from sigservice.jobs import upkeep
from tests.conftest import ADMIN

METRICS = "/internal-backstage/prometheus"


def test_events_get_the_id_of_their_author(service, cast, rows, web):
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
    assert upkeep.fill_events(service.context) == 6
    assert upkeep.fill_events(service.context) == 0
    ids = dict(rows("SELECT username, id FROM users"))
    events = rows("SELECT created_by, type, created_by_user_id FROM events ORDER BY id")
    assert events == [
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


def test_flags_get_the_author_of_their_creation_event(service, web, rows):
    for name in ("by-ada", "by-token", "by-nobody", "known", "again", "no-event"):
        path = "/api/admin/projects/default/features"
        web.post_json(path, {"name": name}, headers=ADMIN, status=201)
    rows("UPDATE features SET created_by_user_id = NULL WHERE name <> 'known'")
    rows("UPDATE events SET created_by = 'Ada' WHERE feature_name IN ('by-ada', 'again')")
    rows("UPDATE events SET created_by = 'nobody' WHERE feature_name = 'by-nobody'")
    rows("DELETE FROM events WHERE feature_name = 'no-event'")
    rows("INSERT INTO events (type, created_by, feature_name) VALUES "
         "('feature-created', 'admin', 'again'), ('feature-archived', 'ada', 'again')")  # fmt: skip
    assert upkeep.fill_features(service.context) == 3
    assert upkeep.fill_features(service.context) == 0
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


def test_batches_have_100_rows_and_never_overlap(service, rows):
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
    assert upkeep.fill_features(service.context) == 100
    oldest = "SELECT min(substr(name, 2)::int) FROM features WHERE created_by_user_id IS NULL"
    assert rows(oldest) == [(101,)]
    counts = []
    processes = [
        threading.Thread(target=lambda: counts.append(upkeep.fill_events(service.context)))
        for _ in range(3)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert sum(counts) + upkeep.fill_events(service.context) == 250
    assert max(counts) == 100

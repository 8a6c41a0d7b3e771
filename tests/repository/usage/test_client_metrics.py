"""Counts by hour: summed, listed, deleted."""

from __future__ import annotations

from datetime import timedelta

import pytest

from sigservice.repository.usage import client_metrics
from tests.repository.kit import run


def this_hour(conn):
    """The hour of the transaction, which can change during a long run."""
    return run(conn, "SELECT date_trunc('hour', now())")[0][0]


@pytest.fixture
def flags(conn):
    """Flags `one` and `two`, environments `dev` and `prod`."""
    return add_flags(conn)


def add_flags(conn):
    run(conn, "INSERT INTO projects (id, name) VALUES ('p', 'p')")
    for n, name in enumerate(("dev", "prod")):
        run(conn, "INSERT INTO environments VALUES (%s, 'test', %s)", name, n)
    for name in ("one", "two"):
        run(
            conn,
            "INSERT INTO features (name, project, type, created_by) "
            "VALUES (%s, 'p', 'release', 't')",
            name,
        )
        run(
            conn, "INSERT INTO feature_environments (feature, environment) VALUES (%s, 'dev')", name
        )


def add(conn, *rows):
    """Rows of (flag, application, environment, hours ago, yes, no)."""
    hour = this_hour(conn)
    for feature, app_name, environment, ago, yes, no in rows:
        values = (feature, app_name, environment, hour - timedelta(hours=ago), yes, no)
        run(conn, "INSERT INTO client_metrics VALUES (%s, %s, %s, %s, %s, %s)", *values)


def test_hours_are_listed_by_environment(conn, flags):
    hour = this_hour(conn)
    add(
        conn,
        ("one", "shop", "dev", 0, 1, 2),
        ("one", "office", "dev", 0, 10, 20),
        ("one", "shop", "prod", 0, 5, 0),
        ("one", "shop", "dev", 2, 7, 0),
        ("one", "shop", "dev", 3, 100, 0),
        ("two", "shop", "dev", 0, 100, 0),
    )
    rows = client_metrics.list_hours(conn, "one", 3)
    assert [tuple(row.values()) for row in rows] == [
        ("dev", hour - timedelta(hours=2), 7, 0),
        ("dev", hour, 11, 22),
        ("prod", hour, 5, 0),
    ]
    assert len(client_metrics.list_hours(conn, "one", 1)) == 2
    assert len(client_metrics.list_for_feature(conn, "one", 4)) == 5
    assert client_metrics.list_app_names(conn, "one") == ["office", "shop"]
    assert client_metrics.list_app_names(conn, "none") == []
    assert client_metrics.list_applications(conn, ["one", "none"]) == {}  # none is registered
    run(conn, "INSERT INTO client_applications (app_name) VALUES ('shop')")
    assert client_metrics.list_applications(conn, ["one", "none"]) == {"one": ["shop"]}


def test_features_of_applications_are_listed(conn, flags):
    add(
        conn,
        ("two", "shop", "dev", 0, 1, 2),
        ("two", "shop", "dev", 1, 1, 2),
        ("one", "office", "prod", 0, 5, 0),
    )
    rows = client_metrics.list_features(conn, ["shop", "office", "none"])
    assert [tuple(row.values()) for row in rows] == [
        ("office", "one", "p", "prod", 5, 0),
        ("shop", "two", "p", "dev", 2, 4),
    ]
    assert client_metrics.list_features(conn, []) == []


def test_oldest_metrics_are_deleted_first(conn, flags):
    add(conn, *(("one", "shop", "dev", n, n, 0) for n in range(10)))
    run(
        conn,
        "INSERT INTO client_metrics_variants "
        "VALUES ('one', 'shop', 'dev', date_trunc('hour', now()) - interval '9 hours', 'blue', 1)",
    )
    assert client_metrics.delete_old(conn, hours=5, chunk=2) == 2
    rows = run(conn, "SELECT yes FROM client_metrics ORDER BY hour")
    assert [yes for (yes,) in rows] == [7, 6, 5, 4, 3, 2, 1, 0]
    assert client_metrics.delete_old_variants(conn, hours=10, chunk=9) == 0
    assert client_metrics.delete_old_variants(conn, hours=5, chunk=9) == 1

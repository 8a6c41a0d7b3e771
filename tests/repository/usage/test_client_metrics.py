"""Counts by hour: summed, listed, deleted."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from sigservice.repository.usage import client_metrics
from tests.repository.kit import add_strategy, run, set_variants


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
    """Rows of (flag, application, environment, hours ago, yes, no); returns the stored pairs."""
    hour = this_hour(conn)
    names = ("feature", "app_name", "environment", "hour", "yes", "no")
    usages = [dict(zip(names, row, strict=True)) for row in rows]
    for usage in usages:
        usage["hour"] = hour - timedelta(hours=usage["hour"])
    return client_metrics.add(conn, usages)


def add_variant(conn, feature, variant, count, environment="dev"):
    """Returns how many were dropped."""
    usage = {"feature": feature, "app_name": "shop", "environment": environment}
    usage["hour"] = this_hour(conn)
    usages = [usage | {"variants": {variant: n}} for n in (count, 0)]
    return client_metrics.add_variants(conn, usages)


def list_totals(conn):
    return run(
        conn, "SELECT feature, app_name, environment, yes, no FROM client_metrics ORDER BY 1"
    )


def test_counts_of_one_key_are_summed_in_a_call_and_across_calls(conn, flags):
    one, two = ("one", "dev"), ("two", "dev")
    assert add(conn, ("one", "shop", "dev", 0, 1, 2), ("one", "shop", "dev", 0, 3, 4)) == {one}
    assert add(conn, ("one", "shop", "dev", 0, 10, 0), ("two", "shop", "dev", 0, 0, 1)) == {
        one,
        two,
    }
    assert list_totals(conn) == [("one", "shop", "dev", 14, 6), ("two", "shop", "dev", 0, 1)]
    set_variants(conn, "one", "dev", '[{"name": "blue"}]')
    assert add_variant(conn, "one", "blue", 2) == add_variant(conn, "one", "blue", 3) == 0
    (row,) = client_metrics.list_for_feature(conn, "one", 1)
    assert json.loads(row["variants"]) == {"blue": 5}


def test_only_variants_that_the_flag_has_in_the_environment_are_stored(conn, flags):
    set_variants(conn, "one", "dev", '[{"name": "old"}]')
    add_strategy(conn, "1", "one", "dev", variants='[{"name": "blue"}, {"name": "red"}]')
    add_strategy(conn, "2", "one", "prod", variants='[{"name": "green"}]')
    add_strategy(conn, "3", "two", "dev", variants='[{"name": "two"}]')
    for variant in ("old", "blue", "red", "disabled"):
        assert add_variant(conn, "one", variant, 1) == 0
    for variant in ("green", "two", "invented", ""):
        assert add_variant(conn, "one", variant, 1) == 1
    rows = run(conn, "SELECT variant FROM client_metrics_variants ORDER BY 1")
    assert rows == [("blue",), ("disabled",), ("old",), ("red",)]


def test_unknown_flags_and_environments_are_ignored(conn, flags):
    unknown = ("none", "shop", "dev", 0, 1, 1), ("one", "shop", "nowhere", 0, 1, 1)
    assert add(conn, *unknown) == set()
    assert add_variant(conn, "none", "x", 1) == add_variant(conn, "one", "x", 1, "nowhere") == 0
    assert list_totals(conn) == []


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
    add_variant(conn, "one", "disabled", 1)
    run(conn, "UPDATE client_metrics_variants SET hour = hour - interval '9 hours'")
    assert client_metrics.delete_old(conn, hours=5, chunk=2) == 2
    rows = run(conn, "SELECT yes FROM client_metrics ORDER BY hour")
    assert [yes for (yes,) in rows] == [7, 6, 5, 4, 3, 2, 1, 0]
    assert client_metrics.delete_old_variants(conn, hours=10, chunk=9) == 0
    assert client_metrics.delete_old_variants(conn, hours=5, chunk=9) == 1

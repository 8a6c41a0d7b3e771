"""sql/queries/flags/features.sql: unique names, the archive, and the search."""

from __future__ import annotations

import pytest

from sigservice.db import queries
from sigservice.repository.flags import feature_environments, feature_tags, features
from sigservice.repository.flags.features import FeatureFilter
from tests.repository.kit import (
    add_built_ins,
    add_flag,
    add_project,
    find_state,
    named,
    run,
    touch,
)


@pytest.fixture
def conn(conn):
    add_built_ins(conn)
    return conn


def result(conn, **expected):
    filter = FeatureFilter(**expected)
    rows = features.search(conn, filter)
    assert features.count_matches(conn, filter) == len(rows)
    return named(rows)


def test_a_new_flag_is_found_by_its_name(conn):
    values = {"type": "permission", "description": "d", "impressionData": True, "stale": True}
    add_flag(conn, "a.b_c~d-9", **values)
    row = features.find(conn, "a.b_c~d-9")
    assert (row["type"], row["impression_data"]) == ("permission", True)
    assert (row["created_by"], row["created_by_user_id"]) == ("ada", 1)
    assert (row["stale"], row["archived_at"], row["last_seen_at"]) == (True, None, None)
    assert features.find(conn, "A.b_c~d-9") is None


def test_the_archive(conn):
    for name in ("a", "b", "c"):
        add_flag(conn, name)
    feature_environments.set_states(
        conn, {("a", "production"): True, ("b", "production"): True}, touch([""])
    )
    features.archive(conn, ["a", "b"])
    first = features.find(conn, "a")["archived_at"]
    features.archive(conn, ["a"])
    assert features.find(conn, "a")["archived_at"] == first
    assert (features.count(conn), result(conn), result(conn, archived=True)) == (
        1,
        ["c"],
        ["a", "b"],
    )
    features.delete(conn, ["b", "c"])  # c is not archived
    assert result(conn) == ["c"]
    features.revive(conn, ["a"])
    assert result(conn) == ["a", "c"]
    assert find_state(conn, "a", "production")["enabled"] is False
    assert run(conn, "SELECT feature FROM feature_environments") == [("a",)]


def test_the_search_narrows(conn):
    add_project(conn)
    add_flag(conn, "a_b", description="Blue Button")
    add_flag(conn, "axb", "other", type="experiment")
    add_flag(conn, "b")
    feature_tags.add(conn, ["b", "axb"], [("simple", "Zebra")])
    feature_tags.add(conn, ["b"], [("simple", "two")])
    feature_environments.set_states(conn, {("b", "production"): True}, touch([""]))
    assert result(conn) == ["a_b", "axb", "b"]
    assert result(conn, projects=["other"]) == ["axb"]
    assert result(conn, projects=[]) == []
    assert result(conn, types=["experiment", "none"]) == ["axb"]
    assert result(conn, prefix="a_") == ["a_b"]
    assert result(conn, prefix="a%") == []
    assert result(conn, tags=["simple:Zebra", "simple:two"]) == ["axb", "b"]
    assert result(conn, tags=["simple:zebra"]) == []
    assert result(conn, text="A_B") == ["a_b"]
    assert result(conn, text="blue b") == ["a_b"]
    assert result(conn, text="e:ZEB") == ["axb", "b"]
    assert result(conn, text="%") == []
    assert result(conn, environment="production") == ["b"]
    assert result(conn, environment="production", enabled=False) == ["a_b", "axb"]
    assert result(conn, prefix="a", types=["release"]) == ["a_b"]


@pytest.mark.parametrize("descending", [False, True])
def test_a_page_by_name_reads_only_its_rows(conn, descending):
    run(
        conn,
        "INSERT INTO features (name, project, type, created_by)"
        " SELECT 'f' || n, 'default', 'release', 'ada' FROM generate_series(1, 2000) n",
    )
    run(conn, "ANALYZE features")
    filter = FeatureFilter(limit=50, descending=descending)
    with conn.cursor() as cursor:
        text = queries.load("flags/features")["search_features"]
        cursor.execute(f"EXPLAIN {text}", vars(filter) | {"words": None})
        plan = "\n".join(row[0] for row in cursor.fetchall())
    assert "features_pkey" in plan, plan
    assert "Sort" not in plan, plan

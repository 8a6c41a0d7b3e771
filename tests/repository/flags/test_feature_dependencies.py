"""sql/queries/flags/feature_dependencies.sql: at most one parent for each flag."""

from __future__ import annotations

import pytest

from sigservice.repository.flags import feature_dependencies, features
from tests.repository.kit import add_built_ins, add_flag


@pytest.fixture
def conn(conn):
    add_built_ins(conn)
    for name in ("a", "b", "c", "d"):
        add_flag(conn, name)
    return conn


def set_parent(conn, child, parent, enabled=True, variants="[]"):
    feature_dependencies.upsert(conn, child, parent, enabled=enabled, variants=variants)


def around(conn, *names):
    rows = feature_dependencies.list_related(conn, list(names))
    return [(row["child"], row["parent"]) for row in rows]


def test_a_second_parent_replaces_the_first(conn):
    set_parent(conn, "a", "b")
    set_parent(conn, "a", "c", False, '["red"]')
    (row,) = feature_dependencies.list_related(conn, ["a"])
    assert (row["parent"], row["enabled"], row["variants"]) == ("c", False, '["red"]')
    assert row["child_is_active"] is True
    assert around(conn, "b") == []
    features.archive(conn, ["a"])
    assert feature_dependencies.list_related(conn, ["c"])[0]["child_is_active"] is False


def test_dependencies_are_listed_by_child_and_parent(conn):
    set_parent(conn, "a", "c")
    set_parent(conn, "b", "c")
    assert around(conn, "c") == [("a", "c"), ("b", "c")]
    assert around(conn, "b", "d") == [("b", "c")]
    assert around(conn) == []


def test_dependencies_are_deleted_by_child_and_parent(conn):
    set_parent(conn, "a", "c")
    set_parent(conn, "b", "c")
    assert feature_dependencies.delete(conn, "a", "b") == 0
    assert feature_dependencies.delete(conn, "a", "c") == 1
    assert feature_dependencies.delete_by_children(conn, ["b"]) == 1
    assert feature_dependencies.delete_by_children(conn, ["b"]) == 0
    set_parent(conn, "a", "c")
    set_parent(conn, "d", "c")
    assert feature_dependencies.delete_by_children(conn, ["c", "a"]) == 1
    assert around(conn, "a", "c", "d") == [("d", "c")]

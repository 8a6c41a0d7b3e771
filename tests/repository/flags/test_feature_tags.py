"""sql/queries/flags/feature_tags.sql: the first use creates a tag."""

from __future__ import annotations

import pytest

from sigservice.errors import ConflictError
from sigservice.repository.flags import feature_tags
from tests.repository.kit import add_built_ins, add_flag, attempt, run

ONE, TWO = ("simple", "one"), ("simple", "two")


@pytest.fixture
def conn(conn):
    add_built_ins(conn)
    add_flag(conn, "a")
    add_flag(conn, "b")
    return conn


def triples(rows):
    return sorted((row["feature"], row["type"], row["value"]) for row in rows)


def test_adding_returns_the_new_tags(conn):
    assert triples(feature_tags.add(conn, ["a"], [ONE, ONE])) == [("a", *ONE)]
    added = feature_tags.add(conn, ["a", "b", "a"], [ONE, TWO])
    assert triples(added) == [("a", *TWO), ("b", *ONE), ("b", *TWO)]
    assert feature_tags.add(conn, ["a", "b"], [ONE]) == []
    assert feature_tags.add(conn, [], [ONE]) == feature_tags.add(conn, ["a"], []) == []
    assert run(conn, "SELECT value FROM tags ORDER BY value") == [("one",), ("two",)]
    items = feature_tags.list_by_features(conn, ["b", "a", "none"])
    assert [row["value"] for row in items] == ["one", "two"] * 2


def test_removing_returns_the_removed_tags(conn):
    feature_tags.add(conn, ["a", "b"], [ONE, TWO])
    gone = feature_tags.remove(conn, ["a", "none"], [ONE, ("simple", "no"), ("no", "one")])
    assert triples(gone) == [("a", *ONE)]
    assert feature_tags.remove(conn, ["a"], [ONE]) == []
    assert triples(feature_tags.list_by_features(conn, ["a", "b"])) == [
        ("a", *TWO),
        ("b", *ONE),
        ("b", *TWO),
    ]
    assert run(conn, "SELECT count(*) FROM tags") == [(2,)]


def test_types_must_exist(conn):
    assert sorted(feature_tags.list_missing_types(conn, ["simple", "x", "x"])) == ["x"]
    assert feature_tags.list_missing_types(conn, []) == []
    for invalid in (("none", "one"), ("simple", "x"), ("simple", "x" * 51)):
        with pytest.raises(ConflictError), attempt(conn):
            feature_tags.add(conn, ["a"], [invalid])
    with pytest.raises(ConflictError), attempt(conn):
        feature_tags.add(conn, ["none"], [ONE])

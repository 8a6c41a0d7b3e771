"""sql/queries/flags/feature_environments.sql: a flag without a row is disabled."""

from __future__ import annotations

import json

import pytest

from sigservice.repository import revisions
from sigservice.repository.flags import feature_environments
from tests.repository.kit import (
    add_built_ins,
    add_flag,
    add_project,
    add_strategy,
    find_state,
    named,
    run,
    set_variants,
    touch,
)


@pytest.fixture
def conn(conn):
    add_built_ins(conn)
    add_project(conn)
    add_flag(conn)
    add_flag(conn, "o", "other")
    return conn


def test_a_flag_has_the_environments_of_its_project_in_their_order(conn):
    rows = feature_environments.list_states(conn, ["o", "a", "none"])
    places = [(row["feature"], row["environment"]) for row in rows]
    assert places == [
        ("a", "production"),
        ("a", "development"),
        ("a", "default"),
        ("o", "production"),
    ]
    assert {(row["enabled"], row["variants"], row["strategies"]) for row in rows} == {
        (False, "[]", 0)
    }
    assert feature_environments.list_states(conn, []) == []


def test_disabled_environment_is_not_visible(conn):
    run(conn, "UPDATE environments SET enabled = false WHERE name = 'default'")
    rows = feature_environments.list_states(conn, ["a"])
    assert [row["is_visible"] for row in rows] == [True, True, False]


def test_strategies_are_counted_by_place(conn):
    add_strategy(conn, "1")
    add_strategy(conn, "2", disabled=True)
    add_strategy(conn, "3", "o", "production")
    rows = feature_environments.list_states(conn, ["a", "o"])
    assert named(rows, "strategies") == [0, 2, 0, 1]
    assert named(rows, "active_strategies") == [0, 1, 0, 1]


def test_one_state(conn):
    revisions.bump(conn, touch([""]))
    generation = revisions.find_generation(conn)
    assert find_state(conn, "a", "development") == {
        "feature": "a",
        "environment": "development",
        "enabled": False,
        "variants": "[]",
        "default_strategy": None,
        "project": "default",
        "archived_at": None,
        "is_active": False,
        "began_at": run(conn, "SELECT created_at FROM features WHERE name = 'a'")[0][0],
        "generation": generation,
    }
    for place in (("o", "development"), ("a", "none"), ("none", "development")):
        assert find_state(conn, *place) is None


def test_states_are_set_and_variants_stay(conn):
    add_flag(conn, "b")
    set_variants(conn, "a", "development", '[{"name": "x"}]')
    feature_environments.set_states(
        conn, {("a", "development"): True, ("b", "development"): True}, touch([""])
    )
    feature_environments.set_states(conn, {("b", "development"): False}, touch([""]))
    generation = revisions.find_generation(conn)
    feature_environments.set_states(conn, {}, touch(["", "in/development"]))
    assert revisions.find_generation(conn) > generation
    assert "in/development" in {row["topic"] for row in revisions.list_all(conn)}
    a, b = (find_state(conn, name, "development") for name in "ab")
    assert (a["enabled"], json.loads(a["variants"])) == (True, [{"name": "x"}])
    assert (b["enabled"], b["variants"]) == (False, "[]")
    set_variants(conn, "a", "development", "[]")
    assert find_state(conn, "a", "development")["enabled"] is True


def test_a_copy_is_off_with_the_variants(conn):
    add_flag(conn, "b")
    feature_environments.set_states(conn, {("a", "development"): True}, touch([""]))
    set_variants(conn, "a", "production", '[{"name": "x"}]')
    feature_environments.copy(conn, "a", "b")
    rows = feature_environments.list_states(conn, ["b"])
    assert named(rows, "enabled") == [False] * 3
    assert [json.loads(row["variants"]) for row in rows] == [[{"name": "x"}], [], []]

"""sql/queries/flags/feature_environments.sql: a flag without a row is disabled."""

from __future__ import annotations

import json

import pytest

from sigservice.repository.flags import feature_environments
from tests.repository.kit import (
    add_built_ins,
    add_flag,
    add_project,
    add_strategy,
    named,
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


def test_strategies_are_counted_by_place(conn):
    add_strategy(conn, "1")
    add_strategy(conn, "2", disabled=True)
    add_strategy(conn, "3", "o", "production")
    rows = feature_environments.list_states(conn, ["a", "o"])
    assert named(rows, "strategies") == [0, 2, 0, 1]
    assert named(rows, "active_strategies") == [0, 1, 0, 1]


def test_a_copy_is_off_with_the_variants(conn):
    add_flag(conn, "b")
    feature_environments.set_states(conn, {("a", "development"): True}, touch([""]))
    set_variants(conn, "a", "production", '[{"name": "x"}]')
    feature_environments.copy(conn, "a", "b")
    rows = feature_environments.list_states(conn, ["b"])
    assert named(rows, "enabled") == [False] * 3
    assert [json.loads(row["variants"]) for row in rows] == [[{"name": "x"}], [], []]

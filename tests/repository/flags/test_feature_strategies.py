"""sql/queries/flags/feature_strategies.sql: order, segments, copies."""

from __future__ import annotations

import json

import pytest

from sigservice.errors import ConflictError
from sigservice.repository import revisions
from sigservice.repository.flags import feature_strategies
from tests.repository.kit import (
    add_built_ins,
    add_flag,
    add_segment,
    add_strategy,
    attempt,
    ids,
    run,
    touch,
)


@pytest.fixture
def conn(conn):
    add_built_ins(conn)
    add_flag(conn)
    add_flag(conn, "b")
    return conn


def test_they_come_in_order(conn):
    add_strategy(conn, "2", sort_order=5)
    add_strategy(conn, "3", sort_order=-1)
    add_strategy(conn, "1", sort_order=5)
    add_strategy(conn, "4", environment="production")
    add_strategy(conn, "5", "b")
    rows = feature_strategies.list_by_features(conn, ["a"], "development")
    assert ids(rows) == ["3", "1", "2"]
    run(conn, "UPDATE feature_strategies SET created_at = now() + '1s' WHERE id = '1'")
    assert ids(feature_strategies.list_by_features(conn, ["a"], "development")) == ["3", "2", "1"]
    assert ids(feature_strategies.list_by_features(conn, ["b", "a"])) == ["3", "2", "1", "4", "5"]
    assert feature_strategies.list_by_features(conn, []) == []


def test_strategy_is_found_in_any_flag_and_environment(conn):
    one, two = add_segment(conn, "one"), add_segment(conn, "two")
    add_strategy(conn, "1", uses=(two, one), parameters='{"rollout": "5"}', title="é")
    row = feature_strategies.find(conn, "1")
    assert (row["segments"], row["title"], row["disabled"]) == ([one, two], "é", False)
    assert json.loads(row["parameters"]) == {"rollout": "5"}
    assert feature_strategies.find(conn, "2") is None
    feature_strategies.set_segments(conn, ["1"], [two])
    assert feature_strategies.find(conn, "1")["segments"] == [two]
    feature_strategies.set_segments(conn, ["1"], [])
    assert feature_strategies.find(conn, "1")["segments"] == []
    with pytest.raises(ConflictError), attempt(conn):
        feature_strategies.set_segments(conn, ["1"], [999])


def test_parameters_are_added_to_those_of_one_strategy_with_a_bump(conn):
    add_strategy(conn, "1")
    add_strategy(conn, "2")
    place, bump = ("a", "development"), touch([""])
    before = feature_strategies.find(conn, "1")
    generation = revisions.find_generation(conn)
    result = feature_strategies.set_parameters(conn, "1", *place, {"x": "y"}, bump)
    assert result == {name: before[name] for name in result}
    expected = json.loads(before["parameters"]) | {"x": "y"}
    assert json.loads(feature_strategies.find(conn, "1")["parameters"]) == expected
    assert json.loads(feature_strategies.find(conn, "2")["parameters"]) != expected
    assert revisions.find_generation(conn) > generation
    assert feature_strategies.set_parameters(conn, "1", "b", "development", {}, bump) is None

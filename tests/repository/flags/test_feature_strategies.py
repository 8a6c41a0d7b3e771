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


def test_an_update_replaces_one(conn):
    add_strategy(conn, "1")
    add_strategy(conn, "2")
    values = {"name": "x", "title": "t", "disabled": True}
    lists = {"parameters": {"a": "b"}, "constraints": [1], "variants": [2]}
    feature_strategies.update(conn, {"id": "1", "sortOrder": 9, **values, **lists})
    texts = {name: json.dumps(value) for name, value in lists.items()} | {"sort_order": 9}
    assert feature_strategies.find(conn, "1").items() >= (values | texts).items()
    assert feature_strategies.find(conn, "2")["name"] == "default"
    feature_strategies.delete(conn, "1")
    feature_strategies.delete(conn, "1")
    assert ids(feature_strategies.list_by_features(conn, ["a"])) == ["2"]


def test_only_those_of_the_place_are_sorted_and_enabled(conn):
    for id, feature, environment in (
        ("1", "a", "development"),
        ("2", "a", "development"),
        ("3", "a", "production"),
        ("4", "b", "development"),
    ):
        add_strategy(conn, id, feature, environment, disabled=id != "2")
    orders = {"1": 7, "3": 7, "4": 7, "none": 7}
    feature_strategies.set_sort_orders(conn, "a", "development", orders)
    feature_strategies.set_sort_orders(conn, "a", "development", {})
    assert feature_strategies.enable_all(conn, ["1", "2"]) == 1
    rows = run(conn, "SELECT id, sort_order, disabled FROM feature_strategies ORDER BY id")
    assert rows == [("1", 7, False), ("2", 0, False), ("3", 0, True), ("4", 0, True)]


def test_a_copy_has_everything_but_the_id(conn):
    segment = add_segment(conn)
    add_strategy(conn, "z", title="first", parameters='{"groupId": "a"}', uses=(segment,))
    add_strategy(conn, "y", title="second", environment="production", disabled=True)
    add_strategy(conn, "x", title="third", constraints="[1]", variants="[2]")
    run(conn, "UPDATE feature_strategies SET created_at = now() + '1s' WHERE id = 'x'")
    feature_strategies.copy(conn, "a", "b", "b")
    rows = feature_strategies.list_by_features(conn, ["b"])
    assert [row["title"] for row in rows] == ["first", "third", "second"]
    assert [json.loads(row["parameters"]) for row in rows] == [{"groupId": "b"}, {}, {}]
    assert [row["segments"] for row in rows] == [[segment], [], []]
    assert (rows[1]["constraints"], rows[1]["variants"], rows[2]["disabled"]) == (
        "[1]",
        "[2]",
        True,
    )
    assert not {"x", "y", "z"} & set(ids(rows))
    add_flag(conn, "c")
    feature_strategies.copy(conn, "a", "c", None)
    first = feature_strategies.list_by_features(conn, ["c"])[0]
    assert json.loads(first["parameters"]) == {"groupId": "a"}

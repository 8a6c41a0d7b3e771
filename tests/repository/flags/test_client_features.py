"""sql/queries/flags/client_features.sql: JSON documents for new and old SDKs."""

from __future__ import annotations

import json

import pytest

from sigservice.repository.flags import (
    client_features,
    feature_dependencies,
    feature_environments,
    feature_tags,
    features,
)
from tests.repository.kit import (
    add_built_ins,
    add_flag,
    add_project,
    add_segment,
    add_strategy,
    run,
    set_variants,
)


@pytest.fixture
def conn(conn):
    add_built_ins(conn)
    add_flag(conn)
    return conn


def bodies(conn, environment="development", item_type="flag", **expected):
    rows = client_features.list_documents(conn, environment, **expected)
    return [json.loads(row["body"]) for row in rows if row["item_type"] == item_type]


def names(conn, **expected):
    return [body["name"] for body in bodies(conn, **expected)]


def test_a_flag_that_is_off_is_sent(conn):
    assert bodies(conn) == [
        {
            "name": "a",
            "type": "release",
            "enabled": False,
            "project": "default",
            "stale": False,
            "description": None,
            "impressionData": False,
            "strategies": [],
            "variants": [],
        }
    ]
    assert bodies(conn, "none") == bodies(conn)
    features.archive(conn, ["a"])
    assert bodies(conn) == []


def test_state_and_strategies_are_those_of_the_environment(conn):
    feature_environments.set_states(conn, {("a", "production"): True}, topics=[""])
    set_variants(conn, "a", "production", '[{"name": "x"}]')
    add_strategy(conn, "1", environment="production", sort_order=2)
    add_strategy(conn, "2", environment="production", name="other", sort_order=1)
    add_strategy(conn, "3", environment="production", disabled=True)
    add_strategy(conn, "4")
    (body,) = bodies(conn, "production")
    assert (body["enabled"], body["variants"]) == (True, [{"name": "x"}])
    assert [strategy["name"] for strategy in body["strategies"]] == ["other", "default"]
    assert set(body["strategies"][0]) == {"name", "parameters", "constraints", "variants"}
    (body,) = bodies(conn)
    assert (body["enabled"], len(body["strategies"])) == (False, 1)


def test_segments_are_listed_or_inlined(conn):
    two = add_segment(conn, "two", constraints=[{"n": 2}, {"n": 3}])
    one = add_segment(conn, "one", constraints=[{"n": 4}])
    add_segment(conn, "unused")
    empty = add_segment(conn, "empty")
    add_strategy(conn, "1", constraints='[{"n": 1}]', uses=(one, two))
    add_strategy(conn, "2", sort_order=1, uses=(empty,))
    add_strategy(conn, "3", sort_order=2)
    first, second, third = bodies(conn)[0]["strategies"]
    assert (first["segments"], first["constraints"]) == ([two, one], [{"n": 1}])
    assert (second["segments"], "segments" in third) == ([empty], False)
    items = bodies(conn, item_type="segment")
    assert items == [
        {"id": two, "name": "two", "constraints": [{"n": 2}, {"n": 3}]},
        {"id": one, "name": "one", "constraints": [{"n": 4}]},
        {"id": empty, "name": "empty", "constraints": []},
    ]
    first, second, third = bodies(conn, inline=True)[0]["strategies"]
    assert [rule["n"] for rule in first["constraints"]] == [1, 2, 3, 4]
    assert second["constraints"] == third["constraints"] == []
    assert not any("segments" in strategy for strategy in (first, second, third))
    assert bodies(conn, item_type="segment", inline=True) == []


def test_segments_are_in_the_order_of_their_numbers(conn):
    run(conn, "ALTER TABLE segments ALTER id RESTART WITH 9")
    item = [add_segment(conn, f"s{n}") for n in range(3)]
    add_strategy(conn, "1", uses=tuple(item))
    assert [body["id"] for body in bodies(conn, item_type="segment")] == item == [9, 10, 11]


def test_dependencies(conn):
    for name in ("b", "c", "d"):
        add_flag(conn, name)
    feature_dependencies.upsert(conn, "a", "d", enabled=True, variants='["red"]')
    feature_dependencies.upsert(conn, "b", "d", enabled=False, variants='["red"]')
    feature_dependencies.upsert(conn, "c", "d", enabled=True, variants="[]")
    rows = client_features.list_documents(conn, "development")
    flags = [row for row in rows if row["item_type"] == "flag"]
    assert [json.loads(row["dependencies"] or "null") for row in flags] == [
        [{"feature": "d", "enabled": True, "variants": ["red"]}],
        [{"feature": "d", "enabled": False}],
        [{"feature": "d", "enabled": True}],
        None,
    ]


def test_filters(conn):
    add_project(conn)
    for name, project in (("a_b", "default"), ("ab", "other")):
        add_flag(conn, name, project)
    feature_tags.add(conn, ["ab"], [("simple", "x:y")])
    assert names(conn) == ["a", "a_b", "ab"]
    assert names(conn, name="a") == ["a"]
    assert names(conn, name="none") == names(conn, projects=[]) == []
    assert names(conn, projects=["other", "none"]) == ["ab"]
    assert names(conn, prefix="a_") == ["a_b"]
    assert names(conn, tags=["simple:x:y", "simple:z"]) == ["ab"]
    assert names(conn, tags=["simple:x:y"], projects=["default"]) == []

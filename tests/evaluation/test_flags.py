"""Evaluation of whole documents."""

from __future__ import annotations

from tests.delivery.kit import (
    compile_flags,
    constraint,
    flag,
    names,
    rollout,
    strategy,
    toggles,
    variant,
)
from tests.table_tests import each

FUTURE = "2100-01-01T00:00:00Z"


def is_on(*strategies, **fields):
    return names(compile_flags(flag("f", *strategies)), **fields) == ["f"]


def test_a_flag_on_its_way_to_a_page():
    payload = {"type": "json", "value": '{"a": 1}'}
    only = variant("blue", 1000, payload=payload)
    flags = compile_flags(flag("a", rollout(100, variants=[only])), flag("b", impressionData=True))
    assert toggles(flags, userId="7") == [
        {
            "name": "a",
            "enabled": True,
            "impressionData": False,
            "variant": {
                "name": "blue",
                "payload": payload,
                "enabled": True,
                "feature_enabled": True,
                "featureEnabled": True,
            },
        },
        {
            "name": "b",
            "enabled": True,
            "impressionData": True,
            "variant": {
                "name": "disabled",
                "enabled": False,
                "feature_enabled": True,
                "featureEnabled": True,
            },
        },
    ]


def test_evaluation_returns_enabled_flags_of_the_requested_projects():
    flags = compile_flags(flag("a"), flag("b", enabled=False), flag("c", project="shop"))
    assert names(flags) == ["a", "c"]
    assert names(flags, "default") == ["a"]
    assert names(flags, "shop", "none") == ["c"]
    assert names(flags, "none") == []


@each(
    "broken",
    [
        constraint("userId", "LIKE", "7"),
        constraint("n", "NUM_GT", value="many"),
        constraint("currentTime", "DATE_AFTER", value="soon"),
        constraint("v", "SEMVER_GT", value="one"),
        constraint("x", "REGEX", value="("),
    ],
)
def test_a_constraint_that_makes_no_sense_is_false(broken):
    fields = {"userId": "7", "n": "9", "v": "9.9.9", "x": "("}
    flags = compile_flags(flag("broken", strategy(constraints=[broken])), flag("other"))
    assert names(flags, **fields) == ["other"]


@each(
    "met fields",
    [
        (constraint("userId", "IN", "7"), {"userId": 7}),
        (constraint("region", "NOT_IN", "us"), {"region": "eu"}),
        (constraint("region", "IN", "us", inverted=True), {"region": "eu"}),
        (constraint("plan", "STR_CONTAINS", "PRO", caseInsensitive=True), {"plan": "x-pro"}),
        (constraint("age", "NUM_GTE", value="18"), {"age": 18.5}),
        (constraint("beta", "IN", "true"), {"beta": True}),
        (constraint("version", "SEMVER_LT", value="2.0.0"), {"version": "1.9.0"}),
        (constraint("x", "REGEX", value="^a+$"), {"properties": {"x": "aaa"}}),
        (constraint("remoteAddress", "IN_CIDR", "10.0.0.0/8"), {"remoteAddress": "10.1.2.3"}),
        (constraint("environment", "IN", "development"), {}),
        (constraint("environment", "IN", "production"), {"environment": "production"}),
        (constraint("environment", "IN", "development"), {"properties": {"environment": "x"}}),
    ],
)
def test_a_constraint_is_met(met, fields):
    assert is_on(strategy(constraints=[met]), **fields)
    inverted = met | {"inverted": not met.get("inverted")}
    if met["operator"] != "REGEX":
        assert not is_on(strategy(constraints=[inverted]), **fields)


def test_without_strategies_a_flag_is_on():
    assert is_on()


def test_unknown_strategies_are_false():
    mine = strategy("mine", parameters={"a": "b"})
    assert not is_on(mine)
    assert is_on(mine, strategy())


def test_segments_are_applied_and_missing_ones_are_false():
    segments = [{"id": 3, "name": "eu", "constraints": [constraint("region", "IN", "eu")]}]
    flags = compile_flags(
        flag("a", strategy(segments=[3])), flag("b", strategy(segments=[4])), segments=segments
    )
    assert names(flags, region="eu") == ["a"]
    assert names(flags, region="us") == []


def test_context_may_have_a_time():
    until = strategy(constraints=[constraint("currentTime", "DATE_BEFORE", value=FUTURE)])
    since = strategy(constraints=[constraint("currentTime", "DATE_AFTER", value=FUTURE)])
    flags = compile_flags(flag("until", until), flag("since", since))
    assert names(flags) == ["until"]
    assert names(flags, currentTime="2100-01-01") == []
    assert names(flags, currentTime="2100-01-01T00:30:00+01:00") == ["until"]
    assert names(flags, currentTime="2100-01-01T00:00:00.000001Z") == ["since"]


PARENT = {"feature": "parent", "enabled": True}


@each(
    "parent dependency expected",
    [
        ({}, PARENT, True),
        ({"enabled": False}, PARENT, False),
        ({"enabled": False}, PARENT | {"enabled": False}, True),
        ({}, PARENT | {"enabled": False}, False),
        ({"name": "other"}, PARENT, False),
        ({"variants": [variant("a", 1000)]}, PARENT | {"variants": ["a"]}, True),
        ({"variants": [variant("a", 1000)]}, PARENT | {"variants": ["b"]}, False),
    ],
)
@each("project", ["default", "shop"])
def test_a_child_follows_its_parent_wherever_that_is(parent, dependency, expected, project):
    only = variant("v", 1000)
    child = flag("child", dependencies=[dependency], variants=[only])
    flags = compile_flags(child, flag("parent") | {"project": project} | parent)
    result = toggles(flags, "default", userId="7")
    assert ("child" in [toggle["name"] for toggle in result]) == expected
    assert all(t["variant"]["name"] == "v" for t in result if t["name"] == "child")

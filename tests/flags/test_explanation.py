"""Explanations of flags and their parts."""

from __future__ import annotations

import pytest

from sigservice.errors import BadDataError
from sigservice.flags import explanation
from sigservice.flags.explanation import DISABLED_VARIANT, explain
from sigservice.flags.playground import build_context
from sigservice.flags.reasons import build_reasons
from tests.flags.kit import constraint, flag, rollout, strategy, variant

HALF = {"percentage": "50", "groupId": "f"}
TWO = [variant("a"), variant("b")]
EU = {"id": 1, "name": "eu", "constraints": [constraint("region", "IN", "eu")]}


def by(stickiness):
    return [variant("a", stickiness=stickiness), variant("b", stickiness=stickiness)]


def why(*strategies, parents=(), disabled=(), more=None, **value):
    """The explanation of one flag with these strategies."""
    saved = [
        {"segments": []} | it | {"id": str(n), "title": None, "disabled": n in disabled}
        for n, it in enumerate(strategies)
    ]
    active = [it for n, it in enumerate(strategies) if n not in disabled]
    query = build_context(value, "development")
    (match,) = explain(
        [flag("f", *active, **more or {})], list(parents), {1: EU}, {"f": saved}, query
    )
    return match


def test_each_part_has_its_own_result():
    users, plan = constraint("userId", "IN", "7"), constraint("plan", "IN", "pro")
    match = why(
        rollout(100, constraints=[users, plan], segments=[1]),
        rollout(0),
        userId="7",
        region="eu",
    )
    first, second = match.strategies
    assert [(it.constraint, it.result) for it in first.constraints] == [
        (users, True),
        (plan, False),
    ]
    (segment,) = first.segments
    assert (segment.id, segment.name, segment.result) == (1, "eu", True)
    assert [it.result for it in segment.constraints] == [True]
    assert (first.result, first.rollout) == (False, True)
    assert (second.result, second.rollout) == (False, False)
    assert (match.is_enabled, match.is_enabled_here, match.result) == (False, True, False)
    assert match.variant == DISABLED_VARIANT
    assert not match.is_random


def test_disabled_flag_still_explains_its_strategies():
    match = why(strategy(), more={"enabled": False})
    assert (match.is_enabled, match.is_enabled_here, match.result) == (False, False, True)


def test_disabled_strategies_are_evaluated_and_do_not_count():
    match = why(strategy(), rollout(0), disabled={0})
    assert [it.result for it in match.strategies] == [True, False]
    assert (match.is_enabled, match.result) == (False, False)
    match = why(rollout(0), disabled={0})
    assert (match.is_enabled, match.result) == (True, True)  # as the client API sends it
    message = build_reasons(match, "development")
    assert (message.state, message.why) == (
        "on",
        "No active strategies: enabled for everyone.",
    )


@pytest.mark.parametrize("name", ["mine", "applicationHostname"])
def test_strategies_that_only_the_application_evaluates_are_unknown(name):
    query = [constraint("userId", "IN", "7")]
    custom = strategy(name, constraints=query, parameters={"hostNames": "*"})
    match = why(custom, userId="7")
    assert (match.strategies[0].result, match.strategies[0].rollout) == ("unknown", "unknown")
    assert (match.result, match.is_enabled) == ("unknown", False)
    match = why(custom, userId="8")
    assert (match.strategies[0].result, match.result) == (False, False)
    assert why(custom, strategy(), userId="7").result is True
    assert not match.strategies[0].is_known


def test_the_host_of_this_server_is_not_the_applications(monkeypatch):
    monkeypatch.setenv("hostname", "web-1")
    monkeypatch.setenv("HOSTNAME", "web-1")
    match = why(strategy("applicationHostname", parameters={"hostNames": "web-1"}))
    assert (match.result, match.is_enabled) == ("unknown", False)


@pytest.mark.parametrize(
    ("expected", "parent", "satisfied"),
    [
        ({"enabled": True}, {}, True),
        ({"enabled": True}, {"enabled": False}, False),
        ({"enabled": False}, {"enabled": False}, True),
        ({"enabled": True}, {"name": "other"}, False),
        ({"enabled": True, "variants": ["a"]}, {"variants": [variant("a")]}, True),
        ({"enabled": True, "variants": ["b"]}, {"variants": [variant("a")]}, False),
    ],
)
def test_parents(expected, parent, satisfied):
    query = {"feature": "parent", **expected}
    parents = [flag("parent") | {"project": "shop"} | parent]
    match = why(parents=parents, more={"dependencies": [query]}, userId="7")
    assert [(it.parent, it.is_satisfied) for it in match.parents] == [(query, satisfied)]
    assert (match.is_enabled, match.has_unsatisfied_parent) == (satisfied, not satisfied)
    assert match.result is True


@pytest.mark.parametrize(
    ("query", "value", "is_random"),
    [
        (rollout(50), {}, True),
        (rollout(50), {"userId": "7"}, False),
        (rollout(50), {"sessionId": "s"}, False),
        (strategy("flexibleRollout", parameters=HALF | {"rollout": "50"}), {}, True),
        (rollout(50, "random"), {"userId": "7"}, True),
        (rollout(100, "random"), {}, False),
        (rollout(50, "userId"), {}, False),
        (rollout(50, "plan"), {}, False),
        (strategy("gradualRolloutRandom", parameters=HALF), {"userId": "7"}, True),
        (strategy("gradualRolloutSessionId", parameters=HALF), {}, False),
        (rollout(50, constraints=[constraint("plan", "IN", "pro")]), {}, False),
        (strategy(variants=TWO), {}, True),
        (strategy(variants=TWO), {"userId": "7"}, False),
        (rollout(100, "random", variants=by("userId")), {"userId": "7"}, True),
        (rollout(100, "userId", variants=by("random")), {"userId": "7"}, False),
    ],
)
def test_random_results_are_marked_and_consistent(query, value, is_random):
    results = set()
    for _ in range(25):
        match = why(query, strategy("mine"), more={"variants": by("environment")}, **value)
        (first, _) = match.strategies
        assert match.is_enabled == (first.result is True)
        assert match.is_random == is_random or not match.is_enabled  # off has no variant to draw
        assert first.rollout or not first.result
        results.add((match.is_enabled, match.variant["name"]))
    assert (len(results) > 1) == is_random


def test_flag_and_parent_use_the_same_random_value():
    query = {"dependencies": [{"feature": "parent", "enabled": True}]}
    parents = [flag("parent", rollout(50, "random"))]
    results = {why(parents=parents, more=query).is_enabled for _ in range(25)}
    assert results == {True, False}
    assert why(parents=parents, more=query).is_random
    both = [flag("f", **query), *parents]
    for _ in range(10):
        child, parent = explain(both, [], {}, {"parent": []}, build_context({}, "development"))
        assert child.is_enabled == parent.is_enabled


@pytest.mark.parametrize(("stickiness", "is_random"), [("userId", True), ("appName", False)])
def test_variants_of_the_flag(stickiness, is_random):
    more = {"variants": by(stickiness)}
    match = [why(more=more, appName="shop") for _ in range(25)]
    assert {it.is_random for it in match} == {is_random}
    assert (len({it.variant["name"] for it in match}) == 2) == is_random
    assert match[0].variants == more["variants"]
    one = [variant("only", stickiness=stickiness)]
    assert not why(more={"variants": one}).is_random
    mine = [variant("mine", 1000)]
    assert why(rollout(0, variants=TWO), strategy(variants=mine), more=more).variants == mine
    first = [why(strategy(), strategy(variants=mine), more=more, appName="x") for _ in range(25)]
    assert {it.variant["name"] for it in first} <= {"a", "b"}
    assert {it.is_random for it in first} == {is_random}


def test_number_of_parts_is_limited(monkeypatch):
    monkeypatch.setattr(explanation, "MAX_PARTS", 3)
    query = [constraint("plan", "IN", "pro")]
    why(rollout(50, constraints=query), rollout(50, constraints=query))  # the same parts
    with pytest.raises(BadDataError):
        why(rollout(50, constraints=query), rollout(40))

"""Explanations of flags and their parts."""

from __future__ import annotations

import pytest

from sigservice.errors import BadDataError
from sigservice.playground import explanation
from sigservice.playground.evaluation_context import make_context
from sigservice.playground.explanation import DISABLED_VARIANT, explain
from sigservice.playground.reasons import build_reasons
from tests.delivery.kit import constraint, flag, rollout, strategy, variant

HALF = {"percentage": "50", "groupId": "f"}
TWO = [variant("a"), variant("b")]
EU = {"id": 1, "name": "eu", "constraints": [constraint("region", "IN", "eu")]}


def by(stickiness):
    return [variant("a", stickiness=stickiness), variant("b", stickiness=stickiness)]


def why(*strategies, parents=(), disabled=(), more=None, **context_fields):
    """The explanation of one flag with these strategies."""
    saved = [
        {"segments": []} | it | {"id": str(n), "title": None, "disabled": n in disabled}
        for n, it in enumerate(strategies)
    ]
    active = [it for n, it in enumerate(strategies) if n not in disabled]
    evaluation_context = make_context(context_fields, environment="development")
    (outcome,) = explain(
        [flag("f", *active, **more or {})], list(parents), {1: EU}, {"f": saved}, evaluation_context
    )
    return outcome


def test_each_part_has_its_own_result():
    users, plan = constraint("userId", "IN", "7"), constraint("plan", "IN", "pro")
    outcome = why(
        rollout(100, constraints=[users, plan], segments=[1]),
        rollout(0),
        userId="7",
        region="eu",
    )
    first, second = outcome.strategies
    assert [(it.constraint, it.result) for it in first.constraints] == [
        (users, True),
        (plan, False),
    ]
    (segment,) = first.segments
    assert (segment.id, segment.name, segment.result) == (1, "eu", True)
    assert [it.result for it in segment.constraints] == [True]
    assert (first.result, first.rollout) == (False, True)
    assert (second.result, second.rollout) == (False, False)
    assert (outcome.is_enabled, outcome.is_enabled_here, outcome.result) == (False, True, False)
    assert outcome.variant == DISABLED_VARIANT
    assert not outcome.is_random


def test_disabled_flag_still_explains_its_strategies():
    outcome = why(strategy(), more={"enabled": False})
    assert (outcome.is_enabled, outcome.is_enabled_here, outcome.result) == (False, False, True)


def test_disabled_strategies_are_evaluated_and_do_not_count():
    outcome = why(strategy(), rollout(0), disabled={0})
    assert [it.result for it in outcome.strategies] == [True, False]
    assert (outcome.is_enabled, outcome.result) == (False, False)
    outcome = why(rollout(0), disabled={0})
    assert (outcome.is_enabled, outcome.result) == (True, True)  # as the client API sends it
    reasons = build_reasons(outcome, "development")
    assert (reasons.state, reasons.why) == (
        "on",
        "No active strategies: enabled for everyone.",
    )


@pytest.mark.parametrize("name", ["mine", "applicationHostname"])
def test_strategies_that_only_the_application_evaluates_are_unknown(name):
    constraints = [constraint("userId", "IN", "7")]
    custom = strategy(name, constraints=constraints, parameters={"hostNames": "*"})
    outcome = why(custom, userId="7")
    assert (outcome.strategies[0].result, outcome.strategies[0].rollout) == ("unknown", "unknown")
    assert (outcome.result, outcome.is_enabled) == ("unknown", False)
    outcome = why(custom, userId="8")
    assert (outcome.strategies[0].result, outcome.result) == (False, False)
    assert why(custom, strategy(), userId="7").result is True
    assert not outcome.strategies[0].is_known


def test_the_host_of_this_server_is_not_the_applications(monkeypatch):
    monkeypatch.setenv("hostname", "web-1")
    monkeypatch.setenv("HOSTNAME", "web-1")
    outcome = why(strategy("applicationHostname", parameters={"hostNames": "web-1"}))
    assert (outcome.result, outcome.is_enabled) == ("unknown", False)


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
def test_parent_result_is_satisfied_in_the_required_state(expected, parent, satisfied):
    dependency = {"feature": "parent", **expected}
    parents = [flag("parent") | {"project": "shop"} | parent]
    outcome = why(parents=parents, more={"dependencies": [dependency]}, userId="7")
    assert [(it.parent, it.is_satisfied) for it in outcome.parents] == [(dependency, satisfied)]
    assert (outcome.is_enabled, outcome.has_unsatisfied_parent) == (satisfied, not satisfied)
    assert outcome.result is True


@pytest.mark.parametrize(
    ("own", "parent", "expected", "state"),
    [
        (strategy(), [strategy("mine")], {}, "unknown"),
        (strategy(), [strategy("mine")], {"enabled": False}, "unknown"),
        (strategy("mine"), [strategy("mine")], {}, "unknown"),
        (strategy(), [strategy("mine"), strategy()], {}, "on"),
        (strategy(), [strategy("mine"), strategy()], {"enabled": False}, "off"),
        (rollout(0), [strategy("mine")], {}, "off"),
        (strategy(), [strategy("mine", constraints=[constraint("plan", "IN", "a")])], {}, "off"),
    ],
)
def test_a_parent_that_only_the_application_evaluates_is_unknown(own, parent, expected, state):
    dependencies = [{"feature": "parent", "enabled": True} | expected]
    outcome = why(own, parents=[flag("parent", *parent)], more={"dependencies": dependencies})
    reasons = build_reasons(outcome, "development")
    assert reasons.state == state
    has_hint = reasons.why.endswith("the custom strategy of parent flag parent.")
    assert has_hint == (state == "unknown")


@pytest.mark.parametrize(
    ("rule", "context_fields", "is_random"),
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
def test_random_results_are_marked_and_consistent(rule, context_fields, is_random):
    results = set()
    for _ in range(25):
        outcome = why(
            rule, strategy("mine"), more={"variants": by("environment")}, **context_fields
        )
        (first, _) = outcome.strategies
        assert outcome.is_enabled == (first.result is True)
        assert (
            outcome.is_random == is_random or not outcome.is_enabled
        )  # off has no variant to draw
        assert first.rollout or not first.result
        results.add((outcome.is_enabled, outcome.variant["name"]))
    assert (len(results) > 1) == is_random


def test_flag_and_parent_use_the_same_random_value():
    more = {"dependencies": [{"feature": "parent", "enabled": True}]}
    parents = [flag("parent", rollout(50, "random"))]
    results = {why(parents=parents, more=more).is_enabled for _ in range(25)}
    assert results == {True, False}
    assert why(parents=parents, more=more).is_random
    both = [flag("f", **more), *parents]
    for _ in range(10):
        child, parent = explain(
            both, [], {}, {"parent": []}, make_context({}, environment="development")
        )
        assert child.is_enabled == parent.is_enabled


@pytest.mark.parametrize(("stickiness", "is_random"), [("userId", True), ("appName", False)])
def test_variants_of_the_flag(stickiness, is_random):
    more = {"variants": by(stickiness)}
    outcome = [why(more=more, appName="shop") for _ in range(25)]
    assert {it.is_random for it in outcome} == {is_random}
    assert (len({it.variant["name"] for it in outcome}) == 2) == is_random
    assert outcome[0].variants == more["variants"]
    one = [variant("only", stickiness=stickiness)]
    assert not why(more={"variants": one}).is_random
    mine = [variant("mine", 1000)]
    assert why(rollout(0, variants=TWO), strategy(variants=mine), more=more).variants == mine
    first = [why(strategy(), strategy(variants=mine), more=more, appName="x") for _ in range(25)]
    assert {it.variant["name"] for it in first} <= {"a", "b"}
    assert {it.is_random for it in first} == {is_random}


def test_number_of_parts_is_limited(monkeypatch):
    monkeypatch.setattr(explanation, "MAX_PARTS", 4)  # one is the constraint of the segment
    constraints = [constraint("plan", "IN", "pro")]
    why(rollout(50, constraints=constraints), rollout(40))
    with pytest.raises(BadDataError):
        why(rollout(50, constraints=constraints), rollout(40), rollout(30))

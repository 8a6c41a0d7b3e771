"""Why a flag is on or off, part by part."""

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


def why(*strategies, parents=(), disabled=(), more=None, **given):
    """The explanation of one flag with these strategies."""
    stored = [
        {"segments": []} | it | {"id": str(n), "title": None, "disabled": n in disabled}
        for n, it in enumerate(strategies)
    ]
    active = [it for n, it in enumerate(strategies) if n not in disabled]
    asked = build_context(given, "development")
    (found,) = explain(
        [flag("f", *active, **more or {})], list(parents), {1: EU}, {"f": stored}, asked
    )
    return found


def test_each_part_has_its_own_result():
    users, plan = constraint("userId", "IN", "7"), constraint("plan", "IN", "pro")
    found = why(
        rollout(100, constraints=[users, plan], segments=[1]),
        rollout(0),
        userId="7",
        region="eu",
    )
    first, second = found.strategies
    assert [(it.constraint, it.result) for it in first.constraints] == [
        (users, True),
        (plan, False),
    ]
    (segment,) = first.segments
    assert (segment.id, segment.name, segment.result) == (1, "eu", True)
    assert [it.result for it in segment.constraints] == [True]
    assert (first.result, first.rollout) == (False, True)
    assert (second.result, second.rollout) == (False, False)
    assert (found.is_enabled, found.is_enabled_here, found.result) == (False, True, False)
    assert found.variant == DISABLED_VARIANT
    assert not found.is_random


def test_a_flag_that_is_off_here_tells_what_its_strategies_would_say():
    found = why(strategy(), more={"enabled": False})
    assert (found.is_enabled, found.is_enabled_here, found.result) == (False, False, True)


def test_disabled_strategies_are_judged_and_do_not_count():
    found = why(strategy(), rollout(0), disabled={0})
    assert [it.result for it in found.strategies] == [True, False]
    assert (found.is_enabled, found.result) == (False, False)
    found = why(rollout(0), disabled={0})
    assert (found.is_enabled, found.result) == (True, True)  # as the client API sends it
    told = build_reasons(found, "development")
    assert (told.state, told.why) == (
        "on",
        "No active strategies: enabled for everyone.",
    )


@pytest.mark.parametrize("name", ["mine", "applicationHostname"])
def test_what_only_the_application_knows_is_unknown(name):
    asked = [constraint("userId", "IN", "7")]
    custom = strategy(name, constraints=asked, parameters={"hostNames": "*"})
    found = why(custom, userId="7")
    assert (found.strategies[0].result, found.strategies[0].rollout) == ("unknown", "unknown")
    assert (found.result, found.is_enabled) == ("unknown", False)
    found = why(custom, userId="8")
    assert (found.strategies[0].result, found.result) == (False, False)
    assert why(custom, strategy(), userId="7").result is True
    assert not found.strategies[0].is_known


def test_the_host_of_this_server_is_not_the_applications(monkeypatch):
    monkeypatch.setenv("hostname", "web-1")
    monkeypatch.setenv("HOSTNAME", "web-1")
    found = why(strategy("applicationHostname", parameters={"hostNames": "web-1"}))
    assert (found.result, found.is_enabled) == ("unknown", False)


@pytest.mark.parametrize(
    ("wanted", "parent", "satisfied"),
    [
        ({"enabled": True}, {}, True),
        ({"enabled": True}, {"enabled": False}, False),
        ({"enabled": False}, {"enabled": False}, True),
        ({"enabled": True}, {"name": "other"}, False),
        ({"enabled": True, "variants": ["a"]}, {"variants": [variant("a")]}, True),
        ({"enabled": True, "variants": ["b"]}, {"variants": [variant("a")]}, False),
    ],
)
def test_parents(wanted, parent, satisfied):
    asked = {"feature": "parent", **wanted}
    parents = [flag("parent") | {"project": "shop"} | parent]
    found = why(parents=parents, more={"dependencies": [asked]}, userId="7")
    assert [(it.parent, it.is_satisfied) for it in found.parents] == [(asked, satisfied)]
    assert (found.is_enabled, found.has_unsatisfied_parent) == (satisfied, not satisfied)
    assert found.result is True


@pytest.mark.parametrize(
    ("asked", "given", "is_random"),
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
def test_what_is_drawn_by_lot_says_so_and_agrees_with_itself(asked, given, is_random):
    seen = set()
    for _ in range(25):
        found = why(asked, strategy("mine"), more={"variants": by("environment")}, **given)
        (first, _) = found.strategies
        assert found.is_enabled == (first.result is True)
        assert found.is_random == is_random or not found.is_enabled  # off has no variant to draw
        assert first.rollout or not first.result
        seen.add((found.is_enabled, found.variant["name"]))
    assert (len(seen) > 1) == is_random


def test_the_lot_of_a_flag_is_that_of_its_parent():
    asked = {"dependencies": [{"feature": "parent", "enabled": True}]}
    parents = [flag("parent", rollout(50, "random"))]
    seen = {why(parents=parents, more=asked).is_enabled for _ in range(25)}
    assert seen == {True, False}
    assert why(parents=parents, more=asked).is_random
    both = [flag("f", **asked), *parents]
    for _ in range(10):
        child, parent = explain(both, [], {}, {"parent": []}, build_context({}, "development"))
        assert child.is_enabled == parent.is_enabled


@pytest.mark.parametrize(("stickiness", "is_random"), [("userId", True), ("appName", False)])
def test_variants_of_the_flag(stickiness, is_random):
    more = {"variants": by(stickiness)}
    found = [why(more=more, appName="shop") for _ in range(25)]
    assert {it.is_random for it in found} == {is_random}
    assert (len({it.variant["name"] for it in found}) == 2) == is_random
    assert found[0].variants == more["variants"]
    one = [variant("only", stickiness=stickiness)]
    assert not why(more={"variants": one}).is_random
    mine = [variant("mine", 1000)]
    assert why(rollout(0, variants=TWO), strategy(variants=mine), more=more).variants == mine
    first = [why(strategy(), strategy(variants=mine), more=more, appName="x") for _ in range(25)]
    assert {it.variant["name"] for it in first} <= {"a", "b"}
    assert {it.is_random for it in first} == {is_random}


def test_there_is_a_limit_to_what_is_judged_at_once(monkeypatch):
    monkeypatch.setattr(explanation, "MAX_PARTS", 3)
    asked = [constraint("plan", "IN", "pro")]
    why(rollout(50, constraints=asked), rollout(50, constraints=asked))  # the same parts
    with pytest.raises(BadDataError):
        why(rollout(50, constraints=asked), rollout(40))

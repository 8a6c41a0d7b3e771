"""The evaluation context: what is made up, and which evaluations are repeatable."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from sigservice.evaluation.fields import Fields
from tests.delivery.kit import compile_flags, constraint, flag, rollout, strategy, variant
from tests.table_tests import each

UNTIL = constraint("currentTime", "DATE_BEFORE", value="2100-01-01T00:00:00Z")
HALF = {"percentage": "50", "groupId": "g"}
TWO = [variant("a"), variant("b")]
USER, SESSION, PLAN = {"userId": "7"}, {"sessionId": "s"}, {"plan": "pro"}
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def by(stickiness):
    return [variant("a", stickiness=stickiness), variant("b", stickiness=stickiness)]


@each(
    "item fields",
    [
        (flag(), []),
        (flag("f", strategy("userWithId", parameters={"userIds": "7"})), []),
        (flag("f", strategy("remoteAddress", parameters={"IPs": "192.0.2.7"})), []),
        (flag("f", strategy(constraints=[constraint("plan", "IN", "pro")])), []),
        (flag("f", strategy("gradualRolloutUserId", parameters=HALF)), []),
        (flag("f", strategy("gradualRolloutSessionId", parameters=HALF)), [SESSION]),
        (flag("f", strategy("gradualRolloutRandom", parameters=HALF)), None),
        (flag("f", rollout(50)), [USER, SESSION]),
        (flag("f", rollout(100)), []),
        (flag("f", rollout(0, "random")), []),
        (flag("f", rollout(50, "random")), None),
        (flag("f", rollout(50, "random", constraints=[constraint("x", "IN", "y")])), []),
        (flag("f", rollout(50, "userId")), []),
        (flag("f", rollout(50, "sessionId")), [SESSION]),
        (flag("f", rollout(50, "plan")), []),
        (flag("f", variants=TWO), [USER, SESSION]),
        (flag("f", variants=TWO[:1]), []),
        (flag("f", variants=by("random")), None),
        (flag("f", variants=by("userId")), [USER]),
        (flag("f", variants=by("plan")), [PLAN]),
        (flag("f", rollout(100, "random", variants=by("userId"))), None),
        (flag("f", strategy(variants=by("default"))), [USER, SESSION]),
        (flag("f", strategy(constraints=[constraint("sessionId", "IN", "s")])), [SESSION]),
        (flag("f", rollout(50, "random"), enabled=False), []),
    ],
)
def test_fields_that_a_repeatable_evaluation_needs(item, fields):
    """`fields` lists alternatives; None: no field is enough."""

    def is_repeatable(texts):
        context = Fields(texts, creates_session=True)
        compile_flags(item).by_name["f"].find_variant(context)
        return context.is_repeatable

    everything = USER | SESSION | PLAN
    assert is_repeatable(everything) == (fields is not None)
    assert is_repeatable({}) == (fields == [])
    for enough in fields or ():
        assert is_repeatable(enough)
    if fields:
        rest = {k: v for k, v in everything.items() if all(k not in enough for enough in fields)}
        assert not is_repeatable(rest)


@pytest.mark.parametrize("holder", [{"constraints": [UNTIL]}, {"segments": [1]}])
def test_evaluation_that_reads_the_clock_is_not_repeatable(holder):
    segments = [{"id": 1, "name": "until", "constraints": [UNTIL]}]
    flags = compile_flags(flag("f", strategy(**holder)), segments=segments)
    for context, expected in ((Fields({}), False), (Fields({}, time=NOW), True)):
        assert flags.by_name["f"].is_enabled(context)
        assert context.is_repeatable == expected


def test_absent_session_is_random_or_absent():
    assert Fields({})["sessionId"] is None
    created = Fields({}, creates_session=True)
    assert created["sessionId"] == created["sessionId"] == created.read_random()
    assert Fields({"sessionId": "s"}, creates_session=True)["sessionId"] == "s"
    assert len({Fields({}, creates_session=True)["sessionId"] for _ in range(20)}) == 20


def test_field_names_are_those_that_enabled_flags_use():
    segments = [{"id": 1, "name": "s", "constraints": [constraint("of-segment", "IN", "x")]}]
    override = {"contextName": "of-override", "values": ["x"]}
    constrained = rollout(50, "of-rollout", constraints=[constraint("of-constraint", "IN", "x")])
    sticky = strategy(
        segments=[1],
        variants=by("ignored"),
        parameters={"stickiness": "of-strategy-variants"},
    )
    flags = compile_flags(
        flag("a", constrained),
        flag("b", sticky),
        flag("c", variants=[variant("v", 1000, "of-variant", overrides=[override])]),
        flag("d", strategy("remoteAddress", parameters={"IPs": "::1"})),
        flag("e", strategy("userWithId", parameters={"userIds": "7"}), enabled=False),
        segments=segments,
    )
    uses = ("constraint", "override", "rollout", "segment", "strategy-variants", "variant")
    assert flags.field_names == (*(f"of-{use}" for use in uses), "remoteAddress")
    assert compile_flags(flag("a", rollout(50))).field_names == ("sessionId", "userId")
    assert compile_flags(flag("a", rollout(50, "random"))).field_names == ()

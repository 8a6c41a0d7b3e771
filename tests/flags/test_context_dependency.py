"""Context dependency: the properties that flags use, and deterministic results."""

from __future__ import annotations

import time

import msgspec
import pytest

from sigservice.flags.context_dependency import (
    ContextDependency,
    EngineDocument,
    EngineFlag,
    EngineParent,
)
from tests.flags.kit import constraint, context, engine, flag, rollout, strategy, variant

UNTIL = constraint("currentTime", "DATE_BEFORE", value="2100-01-01T00:00:00Z")
HALF = {"percentage": "50"}
TWO = [variant("a"), variant("b")]
USER, SESSION = {"userId": "7"}, {"sessionId": "s"}
NOW = {"currentTime": "2026-01-01T00:00:00Z"}
PLAN = {"plan": "pro"}


def by(stickiness):
    return [variant("a", stickiness=stickiness), variant("b", stickiness=stickiness)]


@pytest.mark.parametrize(
    ("item", "fields"),
    [
        (flag(), []),
        (flag("f", strategy("userWithId", parameters={"userIds": "7"})), []),
        (flag("f", strategy("remoteAddress", parameters={"IPs": "192.0.2.7"})), []),
        (flag("f", strategy(constraints=[constraint("plan", "IN", "pro")])), []),
        (flag("f", strategy("gradualRolloutUserId", parameters=HALF)), []),
        (flag("f", strategy("gradualRolloutSessionId", parameters=HALF)), [SESSION]),
        (flag("f", strategy("gradualRolloutRandom", parameters=HALF)), None),
        (flag("f", rollout(50)), [USER, SESSION]),
        (flag("f", strategy("flexibleRollout", parameters={"rollout": "50"})), [USER, SESSION]),
        (flag("f", rollout(100)), []),
        (flag("f", rollout(0, "random")), []),
        (flag("f", rollout(50, "random")), None),
        (flag("f", rollout(50, "userId")), []),
        (flag("f", rollout(50, "sessionId")), [SESSION]),
        (flag("f", rollout(50, "plan")), []),
        (flag("f", variants=TWO), [USER, SESSION]),
        (flag("f", variants=TWO[:1]), []),
        (flag("f", variants=by("random")), None),
        (flag("f", variants=by("userId")), [USER]),
        (flag("f", variants=by("plan")), [PLAN]),
        (flag("f", rollout(100, "sessionId", variants=by("sessionId"))), [SESSION]),
        (flag("f", rollout(100, "random", variants=by("userId"))), None),
        (flag("f", rollout(100, "appName", variants=by("userId"))), None),
        (flag("f", strategy(variants=by("default"))), [USER, SESSION]),
        (flag("f", strategy(constraints=[constraint("sessionId", "IN", "s")])), [SESSION]),
        (flag("f", strategy(constraints=[UNTIL])), [NOW]),
        (flag("f", strategy(segments=[1])), [NOW]),
        (flag("f", variants=by("currentTime")), None),
        (flag("f", rollout(50, "random"), enabled=False), []),
    ],
)  # fmt: skip
def test_fields_that_a_deterministic_result_needs(item, fields):
    it = engine(
        item, segments=[{"id": 1, "name": "until", "constraints": [UNTIL]}]
    ).context_dependency
    everything = USER | SESSION | NOW | PLAN
    assert it.is_deterministic(context(**everything), ("*",)) == (fields is not None)
    assert it.is_deterministic(context(), ("*",)) == (fields == [])
    for enough in fields or ():
        assert it.is_deterministic(context(**enough), ("*",))
        name = next(iter(enough))
        # A property does not count for a root field that would be made up, nor does an empty text.
        assert not it.is_deterministic(context(**{name: ""}), ("*",))
    if fields:
        useless = {k: v for k, v in everything.items() if all(k not in enough for enough in fields)}
        assert not it.is_deterministic(context(**useless), ("*",))
        assert not it.is_deterministic(context(properties=USER | SESSION | NOW), ("*",))


def test_other_projects_do_not_count_but_parents_there_do():
    random_flags = rollout(50, "random")
    child = flag("child", project="b", dependencies=[{"feature": "random", "enabled": True}])
    it = engine(
        flag("random", random_flags, project="a"), child, flag("calm", project="c")
    ).context_dependency
    results = {p: it.is_deterministic(context(), (p,)) for p in ("a", "b", "c", "none", "*")}
    assert results == {"a": False, "b": False, "c": True, "none": True, "*": False}
    assert not it.is_deterministic(context(), ("c", "a"))


def test_missing_and_circular_parents_are_ignored():
    def after(parent):
        return [{"feature": parent, "enabled": True}]

    flags = flag("a", dependencies=after("b")), flag("b", dependencies=after("a"))
    assert engine(*flags, flag("c", dependencies=after("x"))).context_dependency.is_deterministic(
        context(), ("*",)
    )


def test_thousands_of_children_are_looked_through_quickly():
    child = EngineFlag("c", "default", True, [], dependencies=[EngineParent("parent")])
    children = [msgspec.structs.replace(child, name=f"c{n}") for n in range(5000)]
    document = EngineDocument([EngineFlag("parent", "default", True, []), *children])
    began = time.thread_time()
    ContextDependency(document)
    assert time.thread_time() - began < 1


def test_context_is_reduced_to_properties_that_a_flag_uses():
    segments = [{"id": 1, "name": "s", "constraints": [constraint("of-segment", "IN", "x")]}]
    override = {"contextName": "of-override", "values": ["x"]}
    it = engine(
        flag("a", rollout(50, "of-rollout", constraints=[constraint("of-constraint", "IN", "x")])),
        flag("b", strategy(segments=[1], variants=by("of-strategy-variant"))),
        flag("c", variants=[variant("v", 1000, "of-variant", overrides=[override])]),
        segments=segments,
    ).context_dependency
    looked_at = ("rollout", "constraint", "segment", "strategy-variant", "variant", "override")
    rest = {f"of-{name}": "x" for name in looked_at} | {"userId": "7"}
    fields = context(properties=rest | {"of-nothing": "x"}, appName="shop")
    assert it.reduce_context(fields) == fields | {"properties": rest}

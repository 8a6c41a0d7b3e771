"""Random flags and contexts: explanations agree with the engine and with their parts."""

from __future__ import annotations

import pytest

from sigservice.flags.explanation import KNOWN_STRATEGIES, explain
from tests.flags.kit import context, engine, flag
from tests.properties.test_context_dependency import Dice


def some_flags(dice):
    """Flags in the format of the client API, and their strategies in that of the admin API."""
    strategies = {
        f"f{n}": [
            s | {"id": str(i), "title": None, "disabled": dice.random() < 0.2}
            for i, s in enumerate(dice.some(dice.strategy, 3))
        ]
        for n in range(4)
    }
    for saved in strategies.values():
        for strategy in saved:
            if dice.random() < 0.3:
                strategy["parameters"].pop("stickiness", None)
    flags = [
        flag(
            name,
            *[s for s in saved if not s["disabled"]],
            enabled=dice.random() < 0.8,
            variants=dice.variants() if dice.random() < 0.5 else [],
            dependencies=[
                {"feature": "f0", "enabled": dice.random() < 0.6}  # there is one level
                for _ in range(n and dice.randint(0, 1))
            ],
        )
        for n, (name, saved) in enumerate(strategies.items())
    ]
    return flags, strategies


@pytest.mark.parametrize("seed", range(3))
def test_explanation_agrees_with_the_engine_and_with_its_parts(seed):
    dice, sure, on, random_flags = Dice(seed), 0, 0, 0
    for _ in range(120):
        flags, strategies = some_flags(dice)
        segment = {"id": 1, "name": "s", "constraints": dice.some(dice.constraint)}
        context_ = context(**dice.make_fields(), properties=dice.make_fields())
        if dice.random() < 0.5:
            del context_["remoteAddress"]
        item = engine(*flags, segments=[segment])
        answers = [{t["name"]: t for t in item.evaluate(context_, ("*",))} for _ in range(4)]
        outcome = {it.name: it for it in explain(flags, [], {1: segment}, strategies, context_)}
        assert list(outcome) == list(strategies)
        for name, it in outcome.items():
            for part in it.strategies:
                conditions = [*part.constraints, *part.segments]
                for inner in part.segments:
                    assert inner.result == all(c.result for c in inner.constraints)
                holds = all(condition.result for condition in conditions)
                if part.strategy["name"] in KNOWN_STRATEGIES:
                    assert part.result == (part.rollout and holds)
                else:
                    assert part.result == ("unknown" if holds else False)
            together = it.is_enabled_here and not it.has_unsatisfied_parent and it.result is True
            assert it.is_enabled == together
            for parent in it.parents:
                expected = parent.parent
                assert parent.is_satisfied == (
                    outcome[expected["feature"]].is_enabled == expected["enabled"]
                )
            if not it.is_random:
                sure += 1
                on += it.is_enabled
                for answer in answers:
                    assert it.is_enabled == (name in answer)
                    if name in answer:
                        assert it.variant == answer[name]["variant"]
            else:
                random_flags += 1
    assert sure > 200
    assert on > 50
    assert random_flags > 30

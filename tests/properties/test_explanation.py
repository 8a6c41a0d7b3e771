"""Random flags and contexts: explanations agree with the engine and with their parts."""

from __future__ import annotations

import pytest

from sigservice.evaluation.strategies import KNOWN_STRATEGIES
from sigservice.playground.explanation import explain
from tests.delivery.kit import compile_document
from tests.properties.flag_documents import Dice
from tests.properties.test_evaluation import make_fields
from tests.samples import sample


def make_document(dice):
    """A document, and the strategies of its flags in the format of the admin API. There is one
    level of parents, and segments exist, as the service ensures."""
    document = dice.document(4)
    strategies = {}
    for item in document["features"]:
        for strategy in item["strategies"]:
            strategy["segments"] = [id for id in strategy["segments"] if id < 4]
        strategies[item["name"]] = [
            it | {"id": str(n), "title": None, "disabled": dice.random() < 0.2}
            for n, it in enumerate(item["strategies"])
        ]
        active = [it for it in strategies[item["name"]] if not it["disabled"]]
        item["strategies"] = active
        dependencies = [it for it in item.get("dependencies", ()) if it["feature"] == "f0"]
        item["dependencies"] = dependencies if item["name"] != "f0" else []
    return document, strategies


@pytest.mark.parametrize("seed", sample(range(3), 1))
def test_explanation_agrees_with_the_engine_and_with_its_parts(seed):
    dice, sure, on, random_flags = Dice(seed), 0, 0, 0
    for _ in range(120):
        document, strategies = make_document(dice)
        context = dice.context()
        flags = compile_document(document).by_name
        segments = {segment["id"]: segment for segment in document["segments"]}
        fields = make_fields(context)
        outcome = {
            it.name: it for it in explain(document["features"], [], segments, strategies, fields)
        }
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
                name, required = parent.parent["feature"], parent.parent.get("enabled", True)
                if not parent.parent.get("variants"):
                    assert parent.is_satisfied == (outcome[name].is_enabled == required)
            variants = [flags[it.name].find_variant(make_fields(context)) for _ in range(4)]
            if it.is_random:
                random_flags += 1
            else:
                sure += 1
                on += it.is_enabled
                assert variants == [it.variant if it.is_enabled else None] * 4
    assert sure > 200
    assert on > 50
    assert random_flags > 10

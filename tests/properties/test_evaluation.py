"""Random documents and contexts: the evaluator agrees with the official engine of the SDKs.

Answers that depend on a random value are compared by their frequency, in a test of their own. The
deliberate differences are in tests/evaluation/test_differences.py; tests/evaluation/oracle.py
rewrites what the engine can't evaluate.
"""

from __future__ import annotations

import msgspec
import pytest

from sigservice.evaluation.constraints import parse_date
from sigservice.evaluation.fields import Fields
from sigservice.evaluation.flags import evaluate, evaluate_repeatable
from tests.delivery.kit import compile_document, flag, rollout, strategy, variant
from tests.evaluation.oracle import Oracle
from tests.properties.flag_documents import Dice
from tests.samples import sample
from tests.table_tests import each


def make_fields(context):
    roots = {name: text for name, text in context.items() if name != "properties"}
    time = parse_date(roots["currentTime"]) if "currentTime" in roots else None
    return Fields(context["properties"] | roots, time=time)


def list_differences(dice, documents, contexts):
    """(flag, context, our variant, the engine's), and the number of comparisons."""
    differences, count = [], 0
    for _ in range(documents):
        document = dice.document()
        flags, oracle = compile_document(document), Oracle(document)
        for _ in range(contexts):
            context = dice.context()
            for item in document["features"]:
                fields = make_fields(context)
                actual = flags.by_name[item["name"]].find_variant(fields)
                if not fields.has_read_random:
                    count += 1
                    expected = oracle.find_variant(item["name"], context)
                    if actual != expected:
                        differences.append((item, context, actual, expected))
    return differences, count


@pytest.mark.parametrize("seed", sample(range(4), 1))
def test_flags_and_variants_are_those_of_the_official_engine(seed):
    differences, count = list_differences(Dice(seed), 60, 10)
    assert differences == []
    assert count > 3000


@pytest.mark.parametrize("seed", sample(range(2), 1))
def test_contexts_that_agree_in_the_named_fields_have_one_answer(seed):
    dice = Dice(seed)
    for _ in range(60):
        flags = compile_document(dice.document())
        for _ in range(6):
            fields = make_fields(dice.context())
            reduced = Fields(
                {name: fields[name] for name in flags.field_names if name in fields},
                time=fields.read_time(),
            )
            answers = [evaluate(flags.list_entries(("*",)), it) for it in (fields, reduced)]
            if not fields.has_read_random:
                assert answers[0] == answers[1]


@pytest.mark.parametrize("seed", sample(range(2), 1))
def test_repeatable_steps_have_the_same_answer_again(seed):
    dice = Dice(seed)
    for _ in range(60):
        entries, context = compile_document(dice.document()).list_entries(("*",)), dice.context()
        fields = make_fields(context)
        rest = evaluate_repeatable(entries, fields)
        assert evaluate(rest, fields) == evaluate(entries, fields)
        second_fields = make_fields(context)
        if not any(map(callable, rest)):
            assert evaluate(entries, second_fields) == evaluate(rest, second_fields)
            assert second_fields.is_repeatable


@pytest.mark.parametrize("seed", sample(range(2), 1))
def test_body_has_the_enabled_flags_of_the_projects(seed):
    dice = Dice(seed)
    for _ in range(40):
        document = dice.document()
        flags, fields = compile_document(document), make_fields(dice.context())
        for projects in (("a",), ("a", "b"), ("*",)):
            toggles = msgspec.json.decode(evaluate(flags.list_entries(projects), fields))["toggles"]
            expected = [
                {
                    "name": it["name"],
                    "enabled": True,
                    "variant": flags.by_name[it["name"]].find_variant(fields),
                    "impressionData": it.get("impressionData", False),
                }
                for it in document["features"]
                if (it["project"] in projects or projects == ("*",))
                and flags.by_name[it["name"]].is_enabled(fields)
            ]
            assert toggles == expected


TWO = [variant("a", 300, "random"), variant("b", 700, "random")]
HALF = {"percentage": "50", "groupId": "g"}


@each(
    "item context",
    [
        (flag("f", rollout(30, "random")), {"userId": "7"}),
        (flag("f", rollout(70)), {}),
        (flag("f", strategy("gradualRolloutRandom", parameters=HALF)), {"userId": "7"}),
        (flag("f", variants=TWO), {"userId": "7"}),
        (flag("f", variants=[it | {"stickiness": "plan"} for it in TWO]), {}),
        (flag("f", rollout(100, "random", variants=TWO)), {"sessionId": "7"}),
    ],
)
def test_random_answers_are_as_frequent_as_those_of_the_official_engine(item, context):
    document, count = {"version": 2, "features": [item]}, 1500
    oracle, own = Oracle(document), compile_document(document).by_name["f"]
    frequencies = []
    for find_variant in (
        lambda: own.find_variant(Fields(context)),
        lambda: oracle.find_variant("f", context | {"properties": {}}),
    ):
        names = [(find_variant() or {"name": ""})["name"] for _ in range(count)]
        frequencies.append({name: names.count(name) / count for name in set(names)})
    ours, theirs = frequencies
    assert set(ours) == set(theirs)
    assert all(abs(ours[name] - theirs[name]) < 0.1 for name in ours)  # 5.5 standard deviations

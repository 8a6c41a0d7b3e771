"""Random flags and contexts: OFREP agrees with the frontend API."""

from __future__ import annotations

import msgspec
import pytest

from sigservice.evaluation.flags import evaluate, evaluate_repeatable, join_results
from sigservice.evaluation.ofrep import OfrepFlags
from tests.delivery.kit import compile_document
from tests.properties.flag_documents import Dice
from tests.properties.test_evaluation import make_fields
from tests.samples import sample


def evaluate_both(flags, context):
    """{flag: variant of the frontend API}, {flag: answer of OFREP}"""
    fields = make_fields(context)
    toggles = msgspec.json.decode(evaluate(flags.list_entries(("*",)), fields))["toggles"]
    answers = join_results(OfrepFlags(flags).list_entries(("*",)), fields)
    decoded = msgspec.json.decode(b"[" + answers + b"]")
    return (
        {toggle["name"]: toggle["variant"] for toggle in toggles},
        {answer["key"]: answer for answer in decoded},
    )


@pytest.mark.parametrize("seed", sample(range(4), 1))
def test_answers_are_those_of_the_frontend_api(seed):
    dice, reasons = Dice(seed), set()
    for _ in range(60):
        document = dice.document()
        flags = compile_document(document)
        for _ in range(10):
            toggles, answers = evaluate_both(flags, dice.context())
            assert [*answers] == [*flags.by_name]
            for name, answer in answers.items():
                toggle = toggles.get(name)
                assert answer["metadata"]["enabled"] == (toggle is not None)
                has_variant = toggle is not None and toggle["enabled"]
                assert answer["variant"] == (toggle["name"] if has_variant else None)
                if not (has_variant and "payload" in toggle):
                    assert answer["value"] == (toggle is not None)
                elif toggle["payload"]["type"] in ("string", "csv"):
                    assert answer["value"] == toggle["payload"]["value"]
                reasons.add(answer["reason"])
    assert reasons == {"STATIC", "DISABLED", "TARGETING_MATCH", "SPLIT"}


@pytest.mark.parametrize("seed", sample(range(2), 1))
def test_static_answers_are_the_same_for_every_context(seed):
    dice = Dice(seed)
    for _ in range(60):
        flags = compile_document(dice.document())
        answers = [evaluate_both(flags, dice.context())[1] for _ in range(6)]
        for name in flags.by_name:
            if any(it[name]["reason"] in ("STATIC", "DISABLED") for it in answers):
                assert all(it[name] == answers[0][name] for it in answers)


@pytest.mark.parametrize("seed", sample(range(2), 1))
def test_repeatable_answers_are_the_same_again(seed):
    dice = Dice(seed)
    for _ in range(60):
        entries, context = (
            OfrepFlags(compile_document(dice.document())).list_entries(("*",)),
            dice.context(),
        )
        fields = make_fields(context)
        rest = evaluate_repeatable(entries, fields)
        assert join_results(rest, fields) == join_results(entries, fields)

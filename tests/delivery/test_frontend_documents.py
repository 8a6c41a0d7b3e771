"""Cached documents of the frontend API."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from sigservice.delivery import frontend_documents
from sigservice.delivery.compiled_flags import CompiledFlags
from sigservice.delivery.frontend_documents import FrontendDocuments
from sigservice.evaluation.all_flags import AllFlags
from sigservice.evaluation.fields import Fields
from sigservice.evaluation.flags import evaluate, evaluate_repeatable
from sigservice.evaluation.ofrep import OfrepFlags
from tests.delivery.kit import compile_flags, constraint, context, flag, rollout, strategy

BY_PLAN = flag("f", strategy(constraints=[constraint("plan", "IN", "pro")]))
RANDOM = flag("r", rollout(50, "random"))
UNTIL = constraint("currentTime", "DATE_BEFORE", value="2100-01-01T00:00:00Z")
EMPTY = b'{"toggles":[]}'


class ReadFields(Fields):
    """Counts the fields that an evaluation reads."""

    reads = 0

    def __getitem__(self, name):
        self.reads += 1
        return super().__getitem__(name)


class Reader:
    """Reads documents of these flags through one cache."""

    def __init__(self, *flags, documents=None, number=0):
        self.documents = documents or FrontendDocuments()
        compiled = compile_flags(*flags)
        self.compiled = CompiledFlags(
            number, 1, 0, compiled, AllFlags(compiled), OfrepFlags(compiled)
        )

    def get(self, *projects, **fields):
        document = self.documents.get(self.compiled, projects or ("*",), context(**fields))
        return document.text

    def is_cached(self, *projects, **fields):
        """Whether a read evaluates nothing. It makes the context a recent one."""
        read = ReadFields(context(**fields))
        self.documents.get(self.compiled, projects or ("*",), read)
        return read.reads == 0


def test_evaluation_is_cached_when_its_context_comes_again():
    reader = Reader(BY_PLAN)
    assert [reader.is_cached(plan="pro") for _ in range(4)] == [False, False, True, True]
    assert len({reader.get(plan="pro") for _ in range(3)}) == 1


def test_contexts_that_agree_in_the_used_fields_share_an_evaluation():
    reader = Reader(BY_PLAN)
    reader.get(plan="pro", userId="7")
    reader.get(plan="pro", userId="8")
    assert reader.is_cached(plan="pro", region="eu")
    assert not reader.is_cached(plan="free")
    assert (reader.get(plan="free"), reader.get()) == (EMPTY, EMPTY)


def test_other_projects_and_another_compilation_have_evaluations_of_their_own():
    reader = Reader(BY_PLAN)
    later = Reader(documents=reader.documents, number=1)
    assert all(reader.get("default", plan="pro") != EMPTY for _ in range(3))
    assert reader.get("shop", plan="pro") == EMPTY
    assert later.get("default", plan="pro") == EMPTY


def test_random_flags_are_evaluated_each_time_and_the_others_are_cached():
    reader = Reader(BY_PLAN, RANDOM, flag("z"))
    assert len({reader.get(plan="pro") for _ in range(40)}) == 2
    assert reader.is_cached(plan="pro")


def test_flags_that_read_the_clock_are_evaluated_each_time():
    fields = [Fields({}, time=datetime(year, 1, 1, tzinfo=UTC)) for year in (2026, 2101)]
    until = strategy(constraints=[UNTIL])
    reader = Reader(flag("f", until), flag("g", until))
    now = [reader.get() for _ in range(3)]
    assert EMPTY not in now
    entries = reader.compiled.flags.list_entries(("*",))
    assert [evaluate(entries, it) == EMPTY for it in fields] == [False, True]
    cached = evaluate_repeatable(entries, context())
    assert [evaluate(cached, it) == EMPTY for it in fields] == [False, True]


def test_contexts_that_come_once_displace_nothing(monkeypatch):
    monkeypatch.setattr(frontend_documents, "MAX_DOCUMENTS", 2)
    reader = Reader(BY_PLAN)
    for _ in range(2):
        reader.get(plan="pro")
    for number in range(100):
        reader.get(plan=f"plan-{number}")
    assert reader.is_cached(plan="pro")


@pytest.mark.parametrize(
    ("limit", "value"), [("MAX_DOCUMENTS", 2), ("MAX_BYTES", 2.5 * frontend_documents.OVERHEAD)]
)
def test_least_recently_used_evaluations_are_dropped(monkeypatch, limit, value):
    monkeypatch.setattr(frontend_documents, limit, value)
    reader = Reader(BY_PLAN)
    for plan in ("a", "a", "b", "b"):
        reader.get(plan=plan)
    assert reader.is_cached(plan="a")
    for _ in range(2):
        reader.get(plan="c")
    assert [reader.is_cached(plan=plan) for plan in "acb"] == [True, True, False]


def test_memory_of_long_texts_counts(monkeypatch):
    monkeypatch.setattr(frontend_documents, "MAX_BYTES", 20_000)
    reader = Reader(BY_PLAN)
    for _ in range(2):
        reader.get(plan="\U0001f600" * 8000)
    assert not reader.is_cached(plan="\U0001f600" * 8000)


@pytest.mark.parametrize(("number", "is_cached"), [(2, True), (3, False)])
def test_evaluations_of_former_flags_are_dropped(monkeypatch, number, is_cached):
    monkeypatch.setattr(frontend_documents, "MAX_AGE", 2)
    former = Reader(BY_PLAN)
    later = Reader(BY_PLAN, documents=former.documents, number=number)
    for reader in (former, later):
        for _ in range(2):
            reader.get(plan="pro")
    assert former.is_cached(plan="pro") is is_cached

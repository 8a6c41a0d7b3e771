"""Cached documents of the frontend API."""

from __future__ import annotations

import pytest

from sigservice.flags import frontend_documents
from sigservice.flags.compiled_flags import CompiledFlags
from sigservice.flags.frontend_documents import FrontendDocuments
from tests.flags.kit import compile_flags, constraint, context, flag, rollout, strategy

BY_PLAN = flag("f", strategy(constraints=[constraint("plan", "IN", "pro")]))
EMPTY = b'{"toggles":[]}'


def reader(documents, *flags, number=0):
    """A function that returns the document of a context."""
    own = CompiledFlags(number, revision=1, built_at=0, flags=compile_flags(*flags))
    return lambda *projects, **fields: documents.get(own, projects or ("*",), context(**fields))


@pytest.fixture
def get():
    return reader(FrontendDocuments(), BY_PLAN)


def test_document_is_cached_when_its_context_comes_again(get):
    first, second, third = (get(plan="pro") for _ in range(3))
    assert first is not second
    assert first == second
    assert second is third


def test_contexts_that_agree_in_the_used_fields_share_a_document(get):
    for user in ("7", "8"):
        get(plan="pro", userId=user)
    cached = get(plan="pro", userId="9")
    assert get(plan="pro", region="eu") is cached
    assert get(plan="free").text == EMPTY
    assert get().text == EMPTY


def test_other_projects_and_another_compilation_have_documents_of_their_own():
    documents = FrontendDocuments()
    get, get_later = reader(documents, BY_PLAN), reader(documents, number=1)
    assert [len(get("default", plan="pro").text) > 50 for _ in range(3)] == [True] * 3
    assert get("shop", plan="pro").text == EMPTY
    assert get_later("default", plan="pro").text == EMPTY


def test_random_document_is_not_cached():
    get = reader(FrontendDocuments(), flag("f", rollout(50, "random")))
    assert len({get().text for _ in range(40)}) == 2


def test_contexts_that_come_once_displace_nothing(get, monkeypatch):
    monkeypatch.setattr(frontend_documents, "MAX_DOCUMENTS", 2)
    useful = [get(plan="pro") for _ in range(2)][1]
    for number in range(100):
        get(plan=f"plan-{number}")
    assert get(plan="pro") is useful


@pytest.mark.parametrize(
    ("limit", "value"),
    [("MAX_DOCUMENTS", 2), ("MAX_BYTES", 2 * (14 + frontend_documents.OVERHEAD))],
)
def test_least_recently_used_documents_are_dropped(get, monkeypatch, limit, value):
    monkeypatch.setattr(frontend_documents, limit, value)
    a, b = ([get(plan=plan) for _ in range(2)][1] for plan in "ab")
    assert get(plan="b") is b
    assert get(plan="a") is a
    for _ in range(2):
        get(plan="c")
    assert get(plan="a") is a
    assert get(plan="b") is not b

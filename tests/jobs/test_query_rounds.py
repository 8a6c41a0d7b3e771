"""Rounds of queries to one metric source: a query that fails or takes long keeps none of the others
from being asked."""

from __future__ import annotations

import pytest

from sigservice.jobs import metric_sources
from sigservice.services.rules import rule_evaluation
from tests.jobs.release_kit import Releases
from tests.jobs.test_release_queries import STEPS, add_source, create_other, guard
from tests.prometheus_script import vector

RULES = "/api/admin/alert-rules"
GOOD = vector((4e9, "0.01"))
BAD = vector((4e9, "0.2"))


class Answers:
    """`texts` has an answer, None for a connection that ends without one, and the seconds that it
    takes. Everything else is answered at once, with a good value."""

    def __init__(self, kit, script):
        self._kit, self._script, self.texts = kit, script, {}
        script.answer = self.answer

    def answer(self, handler):
        text = self._script.requests[-1][1]["query"][0]
        answer, seconds, *status = self.texts.get(text, (GOOD, 0))
        self._kit.clock.advance(seconds)
        if answer is not None:
            self._script.status = status[0] if status else 200
            self._script.answer_with(handler, answer)

    def drain(self):
        """The queries since the last call."""
        texts = [form["query"][0] for _, form, _ in self._script.requests]
        del self._script.requests[:]
        return texts


@pytest.fixture
def kit(make_service, clock, prometheus):
    service = make_service(environ={"SERVICE_WEBHOOK_ALLOWED_HOSTS": "127.0.0.1"})
    kit = Releases(service, clock)
    add_source(kit, prometheus, "main")
    kit.receiver = kit.endpoint()["id"]
    return kit


@pytest.fixture
def answers(kit, prometheus):
    return Answers(kit, prometheus)


def rule(kit, query, **more):
    source = {"kind": "prometheus", "source": "main", "query": query}
    body = {"name": query, "endpointId": kit.receiver, "source": source, "above": 0.05}
    return kit.post(RULES, body | more, 201)["id"]


def look(kit, seconds=30):
    """One round: queries that take long are due again at its end."""
    kit.clock.advance(seconds)
    context = kit.services[0].context
    for work in metric_sources._lease(context):
        metric_sources._ask_source(context, *work)


def state(kit, id):
    return kit.get(f"{RULES}/{id}")["state"]


@pytest.mark.parametrize(
    "failure",
    [
        (None, 5),
        (b"<html>", 0, 503),
        ({"status": "error", "errorType": "timeout", "error": "too slow"}, 5, 503),
    ],
    ids=["no answer", "5xx", "timeout"],
)
def test_a_query_that_fails_is_unknown_and_the_others_are_asked(kit, answers, failure):
    first, last = rule(kit, "a"), rule(kit, "z")
    release = kit.create(steps=STEPS, guards=[guard(query="m")])
    answers.texts = {"a": failure, "z": (BAD, 0), "m": (BAD, 0)}
    look(kit)
    assert (state(kit, first), state(kit, last)) == ("unknown", "firing")
    assert kit.state(release) == ("rolledBack", None, 0)


def test_guards_are_asked_first(kit, answers):
    for query in ("b", "a"):
        rule(kit, query)
    kit.create(steps=STEPS, guards=[guard(query="z")])
    look(kit)
    assert answers.drain()[-3:] == ["z", "a", "b"]


def test_a_query_that_took_long_is_asked_last(kit, answers):
    for query in ("a", "b", "c"):
        rule(kit, query)
    kit.create(steps=STEPS, guards=[guard(query="g")])
    answers.texts = {"a": (None, 5), "g": (None, 5)}
    look(kit)
    assert answers.drain()[-4:] == ["g", "a", "b", "c"]
    look(kit)
    assert answers.drain() == ["b", "c", "g", "a"]


def test_a_round_that_ends_is_continued_behind_the_query_that_was_asked_last(kit, answers):
    """Each query takes 25 seconds, so a round has time for three of them."""
    for query in "abcdefgh":
        rule(kit, query, everySeconds=15)
    answers.drain()
    answers.texts = dict.fromkeys("abcdefgh", (None, 25))
    rounds = []
    for _ in range(3):
        look(kit, 15)
        rounds.append("".join(answers.drain()))
    assert rounds == ["abc", "def", "gha"]


def test_many_queries_of_one_release_that_take_long_blind_no_other_guard(kit, answers):
    """As an Editor can write them, in the names of several releases."""
    bad = [f"bad-{n}" for n in range(20)]
    answers.texts = dict.fromkeys(bad, (None, 5))
    for number in range(4):
        create_other(kit, f"other-{number}", *map(make_guard, bad[5 * number : 5 * number + 5]))
    release = kit.create(steps=STEPS, guards=[guard(query="good")])
    watched = rule(kit, "rule")
    look(kit, 90)
    look(kit, 30)
    answers.drain()
    answers.texts |= {"good": (BAD, 0), "rule": (BAD, 0)}
    look(kit)
    assert set(answers.drain()[:2]) == {"good", "rule"}
    assert kit.state(release) == ("rolledBack", None, 0)
    assert state(kit, watched) == "firing"


def make_guard(query):
    return guard("hold", query)


def test_a_rule_that_no_round_has_time_for_is_unknown(kit, answers):
    ids = [rule(kit, query, everySeconds=15) for query in "abcd"]
    look(kit)
    assert {state(kit, id) for id in ids} == {"ok"}
    answers.texts = dict.fromkeys("abcd", (GOOD, 30))
    look(kit, 400)
    rules = [kit.get(f"{RULES}/{id}") for id in ids]
    assert [rule["state"] for rule in rules] == ["ok", "ok", "unknown", "unknown"]
    assert rules[3]["reason"] == metric_sources.NO_TIME


def test_a_rule_that_can_not_be_stored_ends_no_round(kit, answers, monkeypatch):
    release = kit.create(steps=STEPS, guards=[guard(query="g")])
    watched = rule(kit, "r")
    answers.texts = {"r": (BAD, 0)}
    store = rule_evaluation.store_answer

    def fail(conn, leases, *more):
        if leases[0].is_watched:
            raise RuntimeError("broken")
        return store(conn, leases, *more)

    monkeypatch.setattr(rule_evaluation, "store_answer", fail)
    with pytest.raises(RuntimeError):
        look(kit)
    assert (state(kit, watched), kit.state(release)[0]) == ("firing", "running")


def test_a_new_release_has_no_answer_of_another_query(kit, answers):
    answers.texts = {"a": (None, 0)}
    release = kit.create(steps=STEPS, guards=[guard(query="a"), guard(query="b")])
    reasons = [item["reason"] for item in kit.read(release)["guards"]]
    assert reasons[0].startswith("The connection was closed")
    assert reasons[1] == "The query was not sent yet."
    look(kit, 1)
    assert kit.read(release)["guards"][1]["state"] == "ok"

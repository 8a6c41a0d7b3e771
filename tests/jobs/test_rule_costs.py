"""A rule whose metric has too many series is unknown alone: other rules, guards, pages and commands
don't wait for it."""

from __future__ import annotations

import pytest

from sigservice.db import execute, fetch_all
from sigservice.jobs import alert_rules as job
from sigservice.services.rules import rule_evaluation, rule_readings
from sigservice.services.rules.rule_readings import TOO_SLOW
from tests.conftest import ADMIN
from tests.jobs.release_kit import Releases
from tests.jobs.rules_kit import PATH, RATIO, Rules
from tests.routes.sdk import Sdk

P95 = {"kind": "impactMetric", "metric": "latency", "measure": "p95", "environment": "development"}


@pytest.fixture
def rules(make_service, database, clock):
    return Rules(Sdk(make_service, database), clock)


def make_slow(monkeypatch):
    """Each statement that reads the metric `latency` exceeds its limit, whatever the machine."""
    read_slices = rule_readings.read_slices

    def read(conn, queries, now):
        if any(query.metric == "latency" for query in queries):
            execute(conn, "SET LOCAL statement_timeout = 1")
            fetch_all(conn, "SELECT pg_sleep(60)")
        return read_slices(conn, queries, now)

    monkeypatch.setattr(rule_readings, "read_slices", read)


def send_latency(rules):
    pairs = [{"le": 1, "count": 100}, {"le": "+Inf", "count": 100}]
    sample = {"count": 100, "sum": 50, "buckets": pairs}
    rules.send([{"name": "latency", "type": "histogram", "samples": [sample]}])


@pytest.fixture
def slow(rules, monkeypatch):
    rule = rules.create(name="a-slow", source=P95)
    make_slow(monkeypatch)
    return rule


def test_a_rule_that_takes_too_long_is_unknown_and_the_others_are_evaluated(rules, slow):
    other = rules.create(name="other", windowMinutes=1)
    for errors, state in ((90, "firing"), (0, "ok")):
        rules.minute(errors=errors, requests=100)
        assert rules.state(other) == state
        read = rules.read(slow)
        assert (read["state"], read["reason"], read["lastError"]) == ("unknown", TOO_SLOW, TOO_SLOW)
        assert read["evaluatedAt"] == rules.read(other)["evaluatedAt"]


def test_a_firing_rule_that_takes_too_long_is_unknown_after_its_window(rules, monkeypatch):
    rule = rules.create(source=P95, windowMinutes=2, above=0.01)
    send_latency(rules)
    rules.look()
    assert rules.state(rule) == "firing"
    make_slow(monkeypatch)
    for _ in range(4):
        rules.minute()
    assert (rules.state(rule), rules.statuses()) == ("unknown", ["firing", "unknown"])


def test_a_rule_that_takes_too_long_is_read_again_alone(rules, slow, monkeypatch):
    send_latency(rules)
    rules.minute()
    monkeypatch.undo()
    rules.minute()
    assert rules.read(slow)["lastError"] is None
    assert rules.read(slow)["value"] > 0


def test_pages_and_commands_do_not_wait_for_it(rules, slow, cast):
    other = rules.create(name="other")
    rules.minute(errors=1, requests=100)
    ada = cast.signed_in("ada")
    page = ada.get("/admin/alert-rules")
    assert len(page.html.select("table svg")) == 1
    assert TOO_SLOW in ada.get(f"/admin/alert-rules/{slow['id']}").text
    assert rules.preview(source=P95)["reason"] == TOO_SLOW
    for rule in (slow, other):
        rules.web.delete(f"{PATH}/{rule['id']}", headers=ADMIN)


def test_the_first_page_after_a_flood_has_the_charts_of_other_rules(rules, slow, cast):
    rules.create(name="other")
    rules.report(errors=1, requests=100)
    assert len(cast.signed_in("ada").get("/admin/alert-rules").html.select("table svg")) == 1


def test_a_release_starts_with_a_guard_that_takes_too_long(rules, slow, clock):
    kit = Releases(rules.sdk.service, clock)
    guards = [
        {"kind": "rule", "effect": "rollBack", "rule": {"source": item, "above": 0.05}}
        for item in (P95, RATIO)
    ]
    rules.report(errors=1, requests=100)
    release = kit.create(steps=[{"rollout": 5, "minutes": 60}, {"rollout": 100}], guards=guards)
    assert release["guards"][0]["reason"] == TOO_SLOW
    preview = kit.post(
        f"{kit.place}/releases/preview", {"steps": [{"rollout": 100}], "guards": guards}
    )
    assert preview["guards"][0]["reason"] == TOO_SLOW
    clock.advance(60)
    rules.report(errors=90, requests=100)
    kit.progress()
    assert kit.state(release) == ("rolledBack", None, 0)


def test_a_rule_whose_signal_can_not_be_stored_stops_no_other(rules, monkeypatch):
    broken, other = rules.create(name="a-broken"), rules.create(name="other")
    store = rule_evaluation.store_change

    def fail(conn, row, *args):
        if row["name"] == "a-broken":
            raise RuntimeError("broken")
        store(conn, row, *args)

    rules.report(errors=90, requests=100)
    with monkeypatch.context() as patch:
        patch.setattr(rule_evaluation, "store_change", fail)
        with pytest.raises(RuntimeError):
            job.run_once(rules.sdk.service.context)
    assert (rules.state(broken), rules.state(other)) == ("unknown", "firing")
    rules.look()
    assert (rules.state(broken), rules.statuses()) == ("firing", ["firing"] * 2)

"""Guards that query Prometheus: they hold, roll back, and delay nothing of other releases."""

from __future__ import annotations

import json
import threading
from datetime import timedelta

import pytest

from sigservice.jobs import metric_sources
from sigservice.services.rules.prometheus import Answer
from tests.conftest import ADMIN, Cast
from tests.jobs.release_kit import FLAGS, Releases
from tests.prometheus_script import success, vector
from tests.table_tests import each
from tests.waiting import until

STEPS = [{"rollout": 5, "minutes": 10}, {"rollout": 100}]
QUERY = 'errors{env="{{environment}}",flag="{{project}}/{{feature}}"}[{{window}}]'
SOURCES = "/api/admin/metric-sources"
FLAG = "/admin/features/checkout"


@pytest.fixture
def kit(make_service, clock, prometheus):
    service = make_service(environ={"SERVICE_WEBHOOK_ALLOWED_HOSTS": "127.0.0.1"})
    kit = Releases(service, clock)
    add_source(kit, prometheus, "main")
    return kit


def add_source(kit, prometheus, name, **more):
    kit.post(SOURCES, {"name": name, "url": f"{prometheus.url}/prom/"} | more, 201)


def guard(effect="rollBack", query="errors", source="main", **more):
    names = ("breaches", "everySeconds", "windowMinutes", "above")
    changes = {name: more.pop(name) for name in names if name in more}
    source = {"kind": "prometheus", "source": source, "query": query}
    rule = {"source": source, "above": 0.05, "everySeconds": 30} | changes
    return {"kind": "rule", "rule": rule, "effect": effect} | more


def sample(kit, value):
    return vector((kit.clock.now().timestamp() + 3600, value))


def ask(kit, seconds=30):
    """Time passes, then the queries that are due are sent."""
    kit.clock.advance(seconds)
    for service in kit.services:
        metric_sources.run_once(service.context)
    kit.progress()


def create(kit, prometheus, *guards, value="0.01", **more):
    prometheus.answer = sample(kit, value)
    return kit.create(steps=STEPS, guards=[*guards] or [guard()], **more)


def test_a_value_beyond_the_limit_rolls_back_with_value_and_limit(kit, prometheus):
    release = create(kit, prometheus)
    prometheus.answer = sample(kit, "0.2")
    ask(kit)
    assert kit.state(release) == ("rolledBack", None, 0)
    event = kit.events(release)[-1]
    assert event["text"] == (
        "Rolled back checkout in production from 5% to 0%: The query was 0.2 (limit 0.05)."
    )
    assert (event["guard"]["value"], event["guard"]["limit"]) == (0.2, 0.05)


def test_a_query_is_sent_with_the_names_of_the_release(kit, prometheus):
    create(kit, prometheus, guard(query=QUERY, windowMinutes=2))
    text = 'errors{env="production",flag="default/checkout"}[2m]'
    ask(kit)
    assert [query["query"] for _, query, _ in prometheus.requests] == [[text]] * 2
    assert kit.get(f"{kit.place}/releases")["releases"][0]["guards"][0]["rule"]["source"][
        "query"
    ] == (QUERY)


def test_a_query_is_sent_at_its_interval_and_not_after_the_end(kit, prometheus):
    release = create(kit, prometheus, guard(everySeconds=60))
    del prometheus.requests[:]
    for _ in range(4):
        ask(kit)
    assert len(prometheus.requests) == 2
    kit.command(release, "stop")
    ask(kit, 600)
    assert len(prometheus.requests) == 2


def test_a_step_is_taken_when_the_query_covers_it(kit, prometheus):
    release = create(kit, prometheus)
    body = {"steps": [{"rollout": 5, "minutes": 1}, {"rollout": 100}], "guards": [guard()]}
    error = kit.create(status=400, **body) if kit.command(release, "stop") else None
    assert error["details"][0]["message"] == "The guards need at least 2 minutes for each step."
    prometheus.answer = sample(kit, "0.01")
    release = kit.create(steps=[{"rollout": 6, "minutes": 2}, {"rollout": 100}], guards=[guard()])
    ask(kit)
    kit.command(release, "advance", status=409)
    for _ in range(3):
        ask(kit)
    assert kit.state(release) == ("running", None, 100)


@pytest.mark.parametrize("hours", [0.5, 24])
def test_a_clock_that_was_set_back_delays_no_query(kit, prometheus, hours):
    release = create(kit, prometheus)
    kit.clock.step(-hours * 3600)
    prometheus.answer = sample(kit, "0.2")
    ask(kit)
    assert kit.state(release) == ("rolledBack", None, 0)


def test_the_window_of_a_query_that_names_it_counts_for_the_shortest_step(kit, prometheus):
    prometheus.answer = success("matrix", [])
    guards = [guard(query="rate(errors[{{window}}])", windowMinutes=5)]
    body = {"steps": STEPS, "guards": guards}
    preview = kit.post(f"{kit.place}/releases/preview", body)
    assert preview["shortestStepMinutes"] == 6


def test_a_preview_reads_the_query_of_the_last_48_hours(kit, prometheus):
    start = kit.clock.now().timestamp() - 48 * 3600
    values = [[start + 600 * n, "0.2" if 100 <= n < 110 else "0.01"] for n in range(289)]
    prometheus.answer = success("matrix", [{"metric": {}, "values": values}])
    body = {"steps": STEPS, "guards": [guard()]}
    (item,) = kit.post(f"{kit.place}/releases/preview", body)["guards"]
    assert (item["kind"], item["state"], item["value"]) == ("rule", "ok", 0.01)
    assert sum(point["firing"] for point in item["series"]) == 10


def hang(handler):
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")
    handler.rfile.read(1)  # until the client closes the connection


NO_VALUES = {
    "NaN": lambda kit: sample(kit, "NaN"),
    "none": lambda kit: vector(),
    "two": lambda kit: vector((0, "1"), (0, "2")),
    "error": lambda kit: {"status": "error", "error": "bad_data: parse error"},
    "no JSON": lambda kit: b"<html>",
    "2 MB": lambda kit: b" " * 2_000_000,
    "hangs": lambda kit: hang,
}


@each("answer", NO_VALUES.values())
def test_an_answer_without_a_value_is_unknown_and_holds_after_a_time(kit, prometheus, answer):
    kit.put(f"{SOURCES}/main", {"url": prometheus.url, "timeoutSeconds": 1})
    release = create(kit, prometheus, noDataMinutes=2)
    prometheus.answer = answer(kit)
    ask(kit)
    (read,) = kit.read(release)["guards"]
    assert (read["state"], read["value"]) == ("unknown", None)
    assert kit.event_types(release)[-1] == "guardUnknown"
    ask(kit, 120)
    assert kit.state(release)[:2] == ("held", "noData")
    assert kit.read(release)["heldReason"] == kit.read(release)["guards"][0]["reason"] != ""
    kit.command(release, "rollback")


def test_prometheus_that_is_down_during_a_step_stops_the_steps_until_it_is_up(kit, prometheus):
    release = create(kit, prometheus)
    prometheus.status, prometheus.answer = 503, b"down"
    for _ in range(30):
        ask(kit)
    assert kit.state(release) == ("running", None, 5)
    prometheus.status, prometheus.answer = 200, sample(kit, "0.01")
    for _ in range(6):
        ask(kit)
    assert kit.state(release) == ("running", None, 100)
    types = ["created", "started", "guardUnknown", "guardOk", "advanced"]
    assert kit.event_types(release) == types


def test_a_firing_query_without_an_answer_keeps_firing_for_its_window(kit, prometheus):
    release = create(kit, prometheus, guard("hold", windowMinutes=2))
    prometheus.answer = sample(kit, "0.2")
    ask(kit)
    prometheus.status = 503
    ask(kit)
    assert kit.read(release)["guards"][0]["state"] == "firing"
    ask(kit, 120)
    assert kit.read(release)["guards"][0]["state"] == "unknown"
    assert kit.state(release) == ("held", "guard", 5)


def test_a_source_that_a_guard_queries_is_not_deleted(kit, prometheus):
    release = create(kit, prometheus)
    error = kit.web.delete(f"{SOURCES}/main", headers=ADMIN, status=409).json["message"]
    assert error == f"The metric source main is used by release {release['id']}."


def test_a_source_that_does_not_answer_refuses_no_release(kit, prometheus):
    prometheus.status = 503
    release = create(kit, prometheus)
    assert (release["state"], release["guards"][0]["state"]) == ("running", "unknown")


@pytest.mark.parametrize(
    ("status", "answer", "path"),
    [
        (200, vector((0, "1"), (0, "2")), "guards[0].rule.source.query"),
        (400, {"status": "error", "error": "parse error"}, "guards[0].rule.source.query"),
        (200, None, "guards[0]"),
    ],
    ids=["series", "syntax", "firing"],
)
def test_a_query_that_is_wrong_or_fires_now_refuses_the_release(
    kit, prometheus, status, answer, path
):
    prometheus.status, prometheus.answer = status, answer or sample(kit, "0.2")
    error = kit.create(status=400, steps=STEPS, guards=[guard()])
    assert error["details"][0]["path"] == path
    assert kit.get(f"{kit.place}/releases")["releases"] == []


def test_equal_queries_of_rules_and_guards_are_sent_once(kit, prometheus):
    endpoint = kit.endpoint()
    prometheus.answer = sample(kit, "0.01")
    source = {"kind": "prometheus", "source": "main", "query": "errors"}
    rule = {"name": "errors", "endpointId": endpoint["id"], "source": source, "above": 0.05}
    kit.post("/api/admin/alert-rules", rule, 201)
    del prometheus.requests[:]
    create(kit, prometheus, guard(), guard("hold"))
    assert len(prometheus.requests) == 1
    del prometheus.requests[:]
    ask(kit)
    assert len(prometheus.requests) == 1


def test_a_source_that_hangs_delays_neither_steps_nor_guards_of_other_sources(
    kit, prometheus, monkeypatch
):
    monkeypatch.setattr(metric_sources, "LOOK_SECONDS", 0.01)
    add_source(kit, prometheus, "slow", timeoutSeconds=30, headers={"X-Scope-OrgID": "slow"})
    create(kit, prometheus, guard(source="slow"))
    watched = create_other(kit, "watched", guard())
    ramp = create_other(kit, "ramp")
    is_asked, may_end = threading.Event(), threading.Event()

    def answer(handler):
        if handler.headers.get("X-Scope-OrgID") == "slow":
            is_asked.set()
            may_end.wait()
            return
        body = json.dumps(sample(kit, "0.2")).encode()
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)

    prometheus.answer = answer
    kit.clock.advance(30)
    thread = threading.Thread(target=metric_sources.run_once, args=(kit.services[0].context,))
    thread.start()
    try:
        assert is_asked.wait(60)
        until(lambda: kit.get(watched)["state"] == "rolledBack", "the rollback")
        kit.clock.advance(600)
        kit.progress()
        assert kit.get(ramp)["rollout"] == 100
    finally:
        may_end.set()
        thread.join()


def create_other(kit, name, *guards):
    """The path of a release of another flag."""
    kit.post(FLAGS, {"name": name}, 201)
    path = f"{FLAGS}/{name}/environments/production/releases"
    return f"{path}/{kit.post(path, {'steps': STEPS, 'guards': [*guards]}, 201)['id']}"


def test_editors_release_with_a_query_although_sources_are_for_admins(kit, prometheus, cast):
    ed = cast.signed_in("ed")
    headers = {"X-CSRF-Token": ed.csrf}
    prometheus.answer = sample(kit, "0.01")
    body = {"steps": STEPS, "guards": [guard()]}
    ed.post_json(f"{kit.place}/releases", body, headers=headers, status=201)
    body = {"name": "other", "url": "http://prometheus.example"}
    ed.post_json(SOURCES, body, headers=headers, status=403)


def test_two_processes_send_a_query_and_roll_back_once(kit, prometheus, make_service):
    kit.services.append(make_service(environ={"SERVICE_WEBHOOK_ALLOWED_HOSTS": "127.0.0.1"}))
    release = create(kit, prometheus)
    del prometheus.requests[:]
    prometheus.answer = sample(kit, "0.2")
    ask(kit)
    assert len(prometheus.requests) == 1
    assert kit.event_types(release) == ["created", "started", "guardFired", "rolledBack"]


def test_a_lease_of_an_ended_process_stops_the_steps_and_ends(kit, prometheus, monkeypatch):
    release = create(kit, prometheus)
    with monkeypatch.context() as patch:
        patch.setattr(metric_sources, "PrometheusClient", None)
        with pytest.raises(TypeError):
            ask(kit, 570)
    kit.clock.advance(30)
    kit.progress()
    assert kit.state(release) == ("running", None, 5)  # although the last value was ok
    prometheus.answer = sample(kit, "0.2")
    ask(kit, 90)
    assert kit.state(release) == ("rolledBack", None, 0)


def test_an_answer_after_the_end_of_its_lease_is_not_stored(kit, prometheus):
    release = create(kit, prometheus)
    kit.clock.advance(30)
    context, answer = kit.services[0].context, Answer(0.2)
    ((_, leases),) = metric_sources._lease(context)
    until = leases[0].row["leased_until"] + timedelta(seconds=1)
    late = [leases[0]._replace(row=leases[0].row | {"leased_until": until})]
    for group, state in ((late, "running"), (leases, "rolledBack"), (leases, "rolledBack")):
        metric_sources._store(context, group, answer)
        assert kit.state(release)[0] == state
    assert kit.event_types(release).count("rolledBack") == 1


def test_no_lock_is_held_while_prometheus_is_asked(kit, prometheus):
    release = create(kit, prometheus)

    def answer(handler):
        kit.command(release, "hold")
        handler.send_response(503)
        handler.end_headers()

    prometheus.answer = answer
    ask(kit)
    assert kit.state(release) == ("held", "person", 5)


def test_the_form_creates_a_guard_with_a_query(kit, prometheus):
    prometheus.answer = sample(kit, "0.01")
    ed = Cast(kit.services[0]).signed_in("ed")
    form = ed.get(f"{FLAG}/environments/production/releases/new").forms["editor"]
    form = form.submit("do", value="add-guard:prometheus").forms["editor"]
    form["guards.0.rule.source.query"] = QUERY
    form["guards.0.rule.above"] = "0.05"
    page = form.submit().follow()
    (guard_row,) = page.html.select(".lanes li")
    text = guard_row.get_text(" ", strip=True)
    assert text == f"Query of main: {QUERY} ✓ ok now 0.01 of 0.05 rolls back"
    text = 'errors{env="production",flag="default/checkout"}[5m]'
    assert [query["query"] for _, query, _ in prometheus.requests] == [[text]]


def test_the_form_refuses_a_query_that_is_beyond_its_limit(kit, prometheus):
    prometheus.answer = sample(kit, "0.2")
    ed = Cast(kit.services[0]).signed_in("ed")
    form = ed.get(f"{FLAG}/environments/production/releases/new").forms["editor"]
    form = form.submit("do", value="add-guard:prometheus").forms["editor"]
    form["guards.0.rule.source.query"] = "errors"
    form["guards.0.rule.above"] = "0.05"
    page = form.submit(status=400)
    assert "The guard fires now: The query was 0.2 (limit 0.05)." in page.html.text
    assert kit.rollout() == 0

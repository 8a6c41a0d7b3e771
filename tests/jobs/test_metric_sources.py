"""Metric sources: what a source and its rules can't delay, secrets and addresses."""

from __future__ import annotations

import base64
import threading
import time

import msgspec
import pytest

from sigservice.concurrency import wait_budget
from sigservice.concurrency.wait_budget import MAX_WAIT_SECONDS
from sigservice.concurrency.workers import MAX_SOURCE_QUERIES
from sigservice.jobs import metric_sources as job
from sigservice.repository.rules import metric_sources
from sigservice.services.identity import SYSTEM
from sigservice.services.rules import alert_rules
from tests.conftest import ADMIN
from tests.jobs.rules_kit import PATH
from tests.jobs.source_kit import QUERY, SOURCES, add_source, create, look, make_rules, sample
from tests.prometheus_script import serve_prometheus, vector
from tests.statement_counter import count_statements
from tests.table_tests import each
from tests.waiting import until

SECRET = "s3cret-of-prometheus"
HEADER_KEY = "key-of-a-header"


@pytest.fixture
def rules(make_service, database, clock, prometheus):
    return make_rules(make_service, database, clock, prometheus)


def test_equal_queries_are_sent_once(rules, prometheus):
    for name in ("a", "b", "c"):
        create(rules, prometheus, name=name)
    del prometheus.requests[:]
    look(rules)
    assert len(prometheus.requests) == 1


def test_a_source_that_hangs_delays_no_other_rule(rules, prometheus):
    rules.web.put_json(
        f"{SOURCES}/main", {"url": prometheus.url, "timeoutSeconds": 30}, headers=ADMIN
    )
    create(rules, prometheus, name="slow")
    metric = rules.create(name="metric")
    is_asked, may_end = threading.Event(), threading.Event()

    def wait(handler):
        is_asked.set()
        may_end.wait()

    prometheus.answer = wait
    thread = threading.Thread(target=look, args=(rules,))
    thread.start()
    try:
        assert is_asked.wait(60)
        rules.report(errors=90, requests=100)
        rules.look()
        assert rules.state(metric) == "firing"
    finally:
        may_end.set()
        thread.join()


def test_a_source_that_hangs_keeps_few_requests_waiting(rules, prometheus):
    may_end = threading.Event()
    prometheus.answer = lambda handler: may_end.wait()
    body = {"url": prometheus.url, "timeoutSeconds": 30}
    rules.web.put_json(f"{SOURCES}/main", body, headers=ADMIN)
    places = rules.sdk.service.context.source_locks.places

    def run_query(name="main"):
        path = f"{SOURCES}/{name}/query"
        return rules.web.post_json(path, {"query": "up"}, headers=ADMIN).json

    threads = [threading.Thread(target=run_query) for _ in range(MAX_SOURCE_QUERIES // 2)]
    for thread in threads:
        thread.start()
    try:
        until(lambda: places._sum == len(threads), "the requests")
        start = time.monotonic()
        assert run_query()["reason"] == "The source is busy with other queries."
        assert time.monotonic() - start < 20  # at once, not after its timeout
        with serve_prometheus() as other:
            other.answer = vector((rules.clock.now().timestamp(), "7"))
            add_source(rules, other, name="other")
            assert run_query("other")["value"] == 7
    finally:
        may_end.set()
        for thread in threads:
            thread.join()
    assert places._sum == 0


def test_a_request_waits_for_a_source_only_as_long_as_requests_may_wait(rules):
    body = {"url": "http://127.0.0.1:9", "timeoutSeconds": 30}
    rules.web.put_json(f"{SOURCES}/main", body, headers=ADMIN)
    context = rules.sdk.service.context
    with context.database.transaction() as conn:
        source = metric_sources.find(conn, "main")
    locks = context.source_locks
    start = time.monotonic()
    with (
        locks.hold(source),
        wait_budget.measure_request(MAX_WAIT_SECONDS - 0.5),
        locks.hold_for_request(source) as is_free,
    ):
        assert not is_free
    assert 0.5 <= time.monotonic() - start < 20


def test_a_rule_that_changes_during_its_query_drops_the_answer(rules, prometheus):
    rule = create(rules, prometheus)

    def change(handler):
        prometheus.answer = sample(rules, "0.01")
        for command in ("disable", "enable"):
            rules.web.post_json(f"{PATH}/{rule['id']}/{command}", {}, headers=ADMIN)
        handler.wfile.write(b"HTTP/1.1 500 Error\r\n\r\n")

    prometheus.answer = change
    look(rules)
    assert rules.state(rule) == "unknown"
    look(rules)
    assert rules.state(rule) == "ok"


def test_a_query_takes_few_statements(rules, prometheus, monkeypatch):
    """Beside the one that says that there is something to do."""
    create(rules, prometheus)
    look(rules)
    assert count_statements(monkeypatch, lambda: look(rules)) == 4


def test_a_rule_of_an_ended_process_is_evaluated_after_its_lease(rules, prometheus, monkeypatch):
    rule = create(rules, prometheus)
    with monkeypatch.context() as patch:
        patch.setattr(job, "PrometheusClient", None)
        with pytest.raises(TypeError):
            look(rules)
    prometheus.answer = sample(rules, "0.2", age=-60)
    look(rules)
    assert rules.read(rule)["evaluatedAt"] is None
    look(rules)
    assert (rules.state(rule), rules.statuses()) == ("firing", ["firing"])


def test_a_stored_secret_is_not_sent_to_another_server(rules, prometheus):
    auth = {"type": "basic", "username": "ada", "password": SECRET}
    add_source(rules, prometheus, "other", auth=auth)
    body = {"url": "https://elsewhere.example", "auth": auth | {"password": None}}
    answer = rules.web.put_json(f"{SOURCES}/other", body, headers=ADMIN, status=400).json
    (detail,) = answer["details"]
    assert detail["path"] == "auth.password"
    assert "enter the password again" in detail["message"]
    body["url"] = f"{prometheus.url}/another/path"
    same = rules.web.put_json(f"{SOURCES}/other", body, headers=ADMIN).json
    assert same["auth"]["hasSecret"]
    body = {"url": "https://elsewhere.example", "auth": auth}
    assert rules.web.put_json(f"{SOURCES}/other", body, headers=ADMIN).json["auth"]["hasSecret"]


def test_a_secret_is_sent_stored_encrypted_and_never_returned(rules, prometheus):
    auth = {"type": "basic", "username": "ada", "password": SECRET}
    headers = {"X-Scope-OrgID": "shop", "X-Api-Key": HEADER_KEY}
    source = add_source(rules, prometheus, "other", auth=auth, headers=headers)
    expected = {"type": "basic", "username": "ada", "password": None, "hasSecret": True}
    assert source["auth"] == expected
    body = {"url": prometheus.url, "auth": {"type": "basic", "username": "eve"}, "headers": headers}
    updated = rules.web.put_json(f"{SOURCES}/other", body, headers=ADMIN).json
    assert updated["auth"] == expected | {"username": "eve"}
    rules.web.post_json(f"{SOURCES}/other/query", {"query": "up"}, headers=ADMIN)
    _, _, request_headers = prometheus.requests[-1]
    assert base64.b64decode(request_headers["Authorization"].removeprefix("Basic ")).decode() == (
        f"eve:{SECRET}"
    )
    assert request_headers["X-Scope-OrgID"] == "shop"
    events = rules.web.get("/api/admin/events", headers=ADMIN).text
    assert "X-Api-Key" in events
    assert SECRET not in events
    assert HEADER_KEY not in events
    assert SECRET not in str(rules.sdk.rows("SELECT * FROM metric_sources"))
    body["auth"] = {"type": "bearer"}
    answer = rules.web.put_json(f"{SOURCES}/other", body, headers=ADMIN, status=400).json
    assert answer["details"][0]["path"] == "auth.token"
    body["auth"] = {"type": "none"}
    cleared = rules.web.put_json(f"{SOURCES}/other", body, headers=ADMIN).json
    assert cleared["auth"] == {"type": "none", "hasSecret": False}


def test_a_private_address_is_refused_unless_it_is_allowed(rules, prometheus):
    for url in ("http://10.0.0.7:9090", "http://169.254.169.254/", "ftp://example.com", "x"):
        answer = rules.web.post_json(
            SOURCES, {"name": "bad", "url": url}, headers=ADMIN, status=400
        ).json
        assert answer["details"][0]["path"] == "url"


BAD_SOURCES = [
    ({"name": "a b"}, "name"),
    ({"url": "http://127.0.0.1/?a=b"}, "url"),
    ({"timeoutSeconds": 0}, "timeoutSeconds"),
    ({"timeoutSeconds": 31}, "timeoutSeconds"),
    ({"auth": {"type": "digest"}}, "auth.type"),
    ({"auth": {"type": "basic"}}, "auth.username"),
    ({"auth": {"type": "bearer", "token": "a\nb"}}, "auth.token"),
    ({"auth": {"type": "bearer"}}, "auth.token"),
    ({"headers": {"Authorization": "x"}}, "headers"),
    ({"headers": {"X-A": "a\r\nb"}}, "headers"),
    ({"headers": {"X-A": ""}}, "headers"),
]


@each("row", BAD_SOURCES)
def test_bad_fields_of_a_source_are_refused_with_their_path(rules, prometheus, row):
    changes, path = row
    answer = add_source(rules, prometheus, **{"name": "new"} | changes, status=400)
    assert path in str(answer["details"])


def test_a_source_of_a_rule_that_is_being_created_is_not_deleted(rules, prometheus, rows):
    prometheus.answer, statuses = sample(rules, "0.01"), []

    def delete():
        answer = rules.web.delete(f"{SOURCES}/main", headers=ADMIN, expect_errors=True)
        statuses.append(answer.status_int)

    thread = threading.Thread(target=delete)
    rule = msgspec.convert(rules.body(source=QUERY), alert_rules.AlertRule)
    with rules.sdk.service.context.database.transaction() as conn:
        alert_rules.create(conn, rule, SYSTEM, limit=1, now=rules.clock.now())
        thread.start()
        waits = "SELECT 1 FROM pg_locks WHERE NOT granted"
        until(lambda: statuses or rows(waits), "the deletion")
    thread.join()
    assert statuses == [409]


def test_sources_are_limited_unique_and_deleted(rules, prometheus):
    add_source(rules, prometheus, status=409)
    for number in range(9):
        add_source(rules, prometheus, f"source-{number}")
    answer = add_source(rules, prometheus, "one-more", status="4*")
    assert answer["name"] == "ExceedsLimitError"
    rule = create(rules, prometheus)
    rules.web.delete(f"{SOURCES}/main", headers=ADMIN, status=409)
    rules.web.delete(f"{PATH}/{rule['id']}", headers=ADMIN)
    rules.web.delete(f"{SOURCES}/main", headers=ADMIN)
    rules.web.get(f"{SOURCES}/main", headers=ADMIN, status=404)
    names = [row["name"] for row in rules.web.get(SOURCES, headers=ADMIN).json["metricSources"]]
    assert names == [f"source-{number}" for number in range(9)]


def test_an_unknown_source_of_a_rule_is_refused(rules):
    source = QUERY | {"source": "gone"}
    answer = rules.web.post_json(PATH, rules.body(source=source), headers=ADMIN, status=400).json
    assert answer["details"][0]["path"] == "source.source"


def test_metrics_count_queries_without_a_value_as_errors(rules, prometheus):
    create(rules, prometheus)
    look(rules)
    prometheus.answer = vector()
    look(rules)
    text = rules.web.get("/internal-backstage/prometheus").text
    for result in ("value", "error"):
        assert f'alert_rule_evaluations_total{{kind="prometheus",result="{result}"}} 1.0' in text
    assert 'alert_rule_evaluation_seconds_count{kind="prometheus"} 2.0' in text

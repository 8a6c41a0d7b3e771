"""The answers of metric sources: values, and what is unknown."""

from __future__ import annotations

import pytest

from tests.conftest import ADMIN
from tests.jobs.rules_kit import PATH
from tests.jobs.source_kit import QUERY, SOURCES, create, look, make_rules, sample
from tests.prometheus_script import success, vector
from tests.table_tests import each


@pytest.fixture
def rules(make_service, database, clock, prometheus):
    return make_rules(make_service, database, clock, prometheus)


def test_a_query_fires_and_is_resolved(rules, prometheus):
    rule = create(rules, prometheus)
    for value in ("0.01", "0.2", "0.01"):
        prometheus.answer = sample(rules, value)
        look(rules)
    firing, resolved = rules.signals()
    assert (firing["status"], firing["data"]["value"]) == ("firing", 0.2)
    assert (resolved["status"], rules.state(rule)) == ("resolved", "ok")
    assert firing["data"]["reason"] == "The query was 0.2 (limit 0.05)."
    path, query, _ = prometheus.requests[-1]
    assert (path, query) == ("/prom/api/v1/query", {"query": ["errors / requests"]})


def test_a_scalar_is_a_value(rules, prometheus):
    rule = create(rules, prometheus)
    prometheus.answer = success("scalar", [rules.clock.now().timestamp(), "0.2"])
    look(rules)
    assert rules.state(rule) == "firing"


def hang(handler):
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")
    handler.rfile.read(1)  # until the client closes the connection


NO_VALUES = {
    "NaN": lambda rules: sample(rules, "NaN"),
    "infinite": lambda rules: sample(rules, "+Inf"),
    "old": lambda rules: sample(rules, "0.2", age=301),
    "none": lambda rules: vector(),
    "two": lambda rules: vector((0, "1"), (0, "2")),
    "matrix": lambda rules: success("matrix", [{"metric": {}, "values": [[0, "1"]]}]),
    "text": lambda rules: success("string", [0, "1"]),
    "no number": lambda rules: sample(rules, "many"),
    "error": lambda rules: {"status": "error", "error": "bad_data: parse error"},
    "no JSON": lambda rules: b"<html>",
    "list": lambda rules: [],
    "other": lambda rules: {"status": "success", "data": None},
    "2 MB": lambda rules: b" " * 2_000_000,
    "hangs": lambda rules: hang,
}


@each("answer", NO_VALUES.values())
def test_an_answer_without_a_value_is_unknown_with_its_reason(rules, prometheus, answer):
    rules.web.put_json(
        f"{SOURCES}/main", {"url": prometheus.url, "timeoutSeconds": 1}, headers=ADMIN
    )
    rule = create(rules, prometheus)
    prometheus.answer = answer(rules)
    look(rules)
    read = rules.read(rule)
    assert (read["state"], read["value"]) == ("unknown", None)
    assert read["reason"] == read["lastError"] != ""
    rules.web.delete(f"{PATH}/{rule['id']}", headers=ADMIN)


MALFORMED = [
    success("vector", [1]),
    success("vector", [1, 2]),
    success("vector", [{"metric": {}, "value": ["nan", "0.01"]}]),
    success("scalar", [0, 10**400]),
    success("a\0b", []),
    success("matrix", [{"values": 5}]),
    success("matrix", [{"values": [[None, None]]}]),
    success("matrix", [{"values": [["inf", "0.01"]]}]),
    success("matrix", ["a", "b"]),
    {"status": "error", "error": "a\0b"},
    b'{"status": "error", "error": "a\\u00\\u000000"}',
    b'{"status": "error", "error": "a\\\\u0000\\u0000"}',
    success("vector", [{"metric": "a\0b"}, {"metric": {"a\0": "\0"}}]),
    b"[" * 500_000,
]


@each("answer", MALFORMED)
def test_a_malformed_answer_is_unknown_everywhere(rules, prometheus, answer):
    rule = create(rules, prometheus)
    prometheus.answer = answer
    look(rules)
    assert rules.state(rule) == "unknown"
    path, body = f"{SOURCES}/main/query", {"query": "up"}
    tried = rules.web.post_json(path, body, headers=ADMIN, status=200).json
    assert tried["value"] is None
    assert tried["reason"]
    assert rules.preview(source=QUERY)["state"] == "unknown"
    rules.web.delete(f"{PATH}/{rule['id']}", headers=ADMIN)


def test_a_redirect_is_not_followed(rules, prometheus):
    rule = create(rules, prometheus)
    prometheus.status = 302
    look(rules)
    assert (rules.state(rule), len(prometheus.requests)) == ("unknown", 2)


def test_several_series_are_refused_when_the_rule_is_saved(rules, prometheus):
    prometheus.answer = vector((0, "1"), (0, "2"))
    answer = rules.web.post_json(PATH, rules.body(source=QUERY), headers=ADMIN, status=400).json
    assert answer["details"][0]["path"] == "source.query"
    assert "job-0" in answer["message"]
    assert "job-1" in answer["message"]


def test_warnings_are_shown(rules, prometheus):
    rule = create(rules, prometheus)
    text = 'PromQL info: metric might not be a counter, name does not end in _total: "failed"'
    prometheus.answer = sample(rules, "0.01", warnings=[text])
    look(rules)
    assert (rules.state(rule), rules.read(rule)["lastError"]) == ("ok", text)


STORE = (
    'receive series from Addr: 10.0.0.7:10901 LabelSets: {region="eu"}: rpc error: code = Aborted'
)


@each(
    "qualifiers",
    [
        {"isPartial": True},
        {"warnings": ["PromQL info: metric might not be a counter", STORE]},
        {"warnings": ["No StoreAPIs matched for this query"]},
        {"warnings": ["Query result may contain partial data"]},
        {"warnings": ["remote_read: remote server http://b returned HTTP status 500"]},
    ],
)
def test_an_answer_with_a_part_of_the_data_is_unknown_everywhere(rules, prometheus, qualifiers):
    rule = create(rules, prometheus)
    prometheus.answer = sample(rules, "0.2", **qualifiers)
    look(rules)
    read = rules.read(rule)
    assert (read["state"], read["value"]) == ("unknown", None)
    assert read["reason"].startswith("The source answered with a part of its data: ")
    body = {"query": "up"}
    tried = rules.web.post_json(f"{SOURCES}/main/query", body, headers=ADMIN).json
    assert (tried["value"], tried["reason"]) == (None, read["reason"])
    series = {"metric": {}, "values": [[rules.clock.now().timestamp(), "0.2"]]}
    prometheus.answer = success("matrix", [series], **qualifiers)
    assert rules.preview(source=QUERY)["reason"] == read["reason"]
    rules.web.delete(f"{PATH}/{rule['id']}", headers=ADMIN)


def test_a_long_query_is_sent_as_a_form(rules, prometheus):
    prometheus.answer = sample(rules, "0.3")
    text = f'sum(errors{{shop=~"{"ä|" * 200}"}})'
    body = {"query": text}
    assert rules.web.post_json(f"{SOURCES}/main/query", body, headers=ADMIN).json["value"] == 0.3
    path, form, headers = prometheus.requests[-1]
    assert (path, form) == ("/prom/api/v1/query", {"query": [text]})
    assert headers["Content-Type"] == "application/x-www-form-urlencoded"


def test_a_query_that_is_too_long_for_the_source_is_named(rules, prometheus):
    prometheus.status, prometheus.answer = 414, b"<html>"
    body = {"query": "x" * 900}
    answer = rules.web.post_json(f"{SOURCES}/main/query", body, headers=ADMIN).json
    assert answer["reason"] == "The source answered 414: the query has 900 characters."


def test_types_of_results_are_compared_without_case(rules, prometheus):
    rule = create(rules, prometheus)
    prometheus.answer = success("Scalar", [rules.clock.now().timestamp() + 60, "0.2"])
    prometheus.answer["status"] = "Success"
    look(rules)
    assert rules.state(rule) == "firing"


def test_the_preview_reads_the_last_48_hours(rules, prometheus):
    start = rules.clock.now().timestamp() - 48 * 3600
    start = round(start, 3)  # as Prometheus does
    values = [[start + 600 * n, "0.2" if 100 <= n < 110 else "0.01"] for n in range(289)]
    prometheus.answer = success("matrix", [{"metric": {}, "values": values}])
    preview = rules.preview(source=QUERY)
    assert (preview["state"], preview["value"], len(preview["series"])) == ("ok", 0.01, 289)
    assert sum(point["firing"] for point in preview["series"]) == 10
    path, query, _ = prometheus.requests[-1]
    assert (path, query["step"]) == ("/prom/api/v1/query_range", ["600"])


def test_a_query_is_tried(rules, prometheus):
    prometheus.answer = sample(rules, "0.3", warnings=["w"])
    path = f"{SOURCES}/main/query"
    body = {"query": "up"}
    answer = rules.web.post_json(path, body, headers=ADMIN).json
    assert answer == {"value": 0.3, "reason": None, "warnings": ["w"]}
    prometheus.answer = vector()
    answer = rules.web.post_json(path, body, headers=ADMIN).json
    assert answer == {"value": None, "reason": "The query has no result.", "warnings": []}
    rules.web.post_json(path, {"query": ""}, headers=ADMIN, status=400)
    rules.web.post_json(f"{SOURCES}/gone/query", body, headers=ADMIN, status=404)

"""Alert rules: what the admin API accepts, and the preview."""

from __future__ import annotations

import json
import re

import pytest

from tests.conftest import ADMIN
from tests.jobs.rules_kit import PATH, RATIO, Rules
from tests.routes.sdk import CLIENT, Sdk
from tests.table_tests import each


@pytest.fixture
def rules(make_service, database, clock):
    return Rules(Sdk(make_service, database, SERVICE_ALERT_RULES_LIMIT="2"), clock)


BAD = {
    "no name": ({"name": ""}, "name"),
    "name": ({"name": "a b"}, "name"),
    "endpoint": ({"endpointId": 99}, "endpointId"),
    "huge endpoint": ({"endpointId": 2**40}, "endpointId"),
    "no limit": ({"above": None}, "above"),
    "both limits": ({"below": 1}, "above"),
    "huge limit": ({"above": 1e300}, "above"),
    "text limit": ({"above": "1"}, "above"),
    "window 0": ({"windowMinutes": 0}, "windowMinutes"),
    "window": ({"windowMinutes": 1441}, "windowMinutes"),
    "samples": ({"minSamples": -1}, "minSamples"),
    "breaches": ({"breaches": 0}, "breaches"),
    "every 14": ({"everySeconds": 14}, "everySeconds"),
    "every hours": ({"everySeconds": 3601}, "everySeconds"),
    "enabled": ({"enabled": "yes"}, "enabled"),
    "kind": ({"source": RATIO | {"kind": "sql"}}, "source.kind"),
    "measure": ({"source": RATIO | {"measure": "sum"}}, "source.measure"),
    "no per": ({"source": RATIO | {"per": None}}, "source.per"),
    "per of a rate": ({"source": RATIO | {"measure": "rate"}}, "source.per"),
    "metric": ({"source": RATIO | {"metric": ""}}, "source.metric"),
    "long metric": ({"source": RATIO | {"metric": "m" * 256}}, "source.metric"),
    "environment": ({"source": RATIO | {"environment": "moon"}}, "source.environment"),
    "labels": ({"source": RATIO | {"labels": {"a": ""}}}, "source.labels"),
    "label type": ({"source": RATIO | {"labels": {"a": 1}}}, "source.labels"),
}


@each("row", BAD.values(), name=str)
def test_bad_fields_are_refused_with_their_path(rules, row):
    changes, path = row
    body = rules.body(**changes)
    answer = rules.web.post_json(PATH, body, headers=ADMIN, status=400).json
    assert path in str(answer["details"]), answer
    assert rules.web.get(PATH, headers=ADMIN).json == {"alertRules": []}


def test_a_rule_is_read_as_it_was_written(rules):
    rule = rules.create(source=RATIO | {"labels": {"region": "eu"}, "appName": "shop"})
    expected = rules.body(source=RATIO | {"labels": {"region": "eu"}, "appName": "shop"})
    assert expected.items() <= rule.items()
    assert (rule["enabled"], rule["everySeconds"], rule["below"]) == (True, 30, None)


def test_rules_are_limited_and_names_unique(rules):
    rules.create()
    rules.web.post_json(PATH, rules.body(), headers=ADMIN, status=409)
    rules.create(name="b")
    answer = rules.web.post_json(PATH, rules.body(name="c"), headers=ADMIN, status="4*")
    assert answer.json["name"] == "ExceedsLimitError"
    assert len(rules.web.get(PATH, headers=ADMIN).json["alertRules"]) == 2


def test_a_rule_is_replaced_disabled_enabled_and_deleted(rules):
    rule = rules.create()
    path = f"{PATH}/{rule['id']}"
    changed = rules.web.put_json(path, rules.body(name="b", above=9), headers=ADMIN).json
    assert (changed["name"], changed["above"], changed["enabled"]) == ("b", 9, True)
    assert rules.web.post(f"{path}/disable", headers=ADMIN).json["enabled"] is False
    assert rules.web.put_json(path, rules.body(), headers=ADMIN).json["enabled"] is False
    assert rules.web.post(f"{path}/enable", headers=ADMIN).json["enabled"] is True
    rules.web.delete(path, headers=ADMIN)
    rules.web.get(path, headers=ADMIN, status=404)
    types = rules.sdk.rows("SELECT type FROM events WHERE type LIKE 'alert-rule-%%' ORDER BY id")
    assert [type for (type,) in types] == [
        "alert-rule-created",
        *["alert-rule-updated"] * 4,
        "alert-rule-deleted",
    ]


def test_unknown_rules_are_not_found(rules):
    for method, path in (("PUT", ""), ("POST", "/enable"), ("DELETE", "")):
        for id in (4711, 2**31):
            body = rules.body() if method == "PUT" else {}
            rules.web.request(
                f"{PATH}/{id}{path}",
                method=method,
                headers=ADMIN | {"Content-Type": "application/json"},
                body=json.dumps(body).encode(),
                status=404,
            )
            rules.web.get(f"{PATH}/{id}", headers=ADMIN, status=404)


def create_viewer(web):
    """The headers of a service account that only reads."""
    account = {"username": "eye", "name": "Eye", "rootRole": "Viewer"}
    id = web.post_json("/api/admin/service-account", account, headers=ADMIN).json["id"]
    token = {"description": "t", "expiresAt": "2099-01-01T00:00:00Z"}
    path = f"/api/admin/service-account/{id}/token"
    secret = web.post_json(path, token, headers=ADMIN).json["secret"]
    return {"Authorization": secret}


def test_viewers_read_rules_and_only_admins_change_them(rules):
    rule, viewer = rules.create(), create_viewer(rules.web)
    rules.web.get(PATH, headers=CLIENT, status=403)
    assert rules.web.get(PATH, headers=viewer).json == {"alertRules": [rule]}
    path = f"{PATH}/{rule['id']}"
    assert rules.web.get(path, headers=viewer).json == rule
    rules.web.put_json(path, rules.body(), headers=viewer, status=403)
    rules.web.delete(path, headers=viewer, status=403)
    rules.web.post(f"{path}/disable", headers=viewer, status=403)
    rules.web.post_json(f"{PATH}/preview", rules.body(), headers=viewer, status=403)


def test_viewers_read_metric_sources_without_the_values_of_headers(rules):
    viewer, path = create_viewer(rules.web), "/api/admin/metric-sources"
    headers = {"X-API-Key": "k3y"}
    body = {"name": "main", "url": "https://prometheus.example.com", "headers": headers}
    source = rules.web.post_json(path, body, headers=ADMIN).json
    masked = source | {"headers": {"X-API-Key": "…"}}
    assert rules.web.get(path, headers=viewer).json == {"metricSources": [masked]}
    assert rules.web.get(f"{path}/main", headers=viewer).json == masked
    assert rules.web.get(f"{path}/main", headers=ADMIN).json["headers"] == headers
    rules.web.post_json(f"{path}/main/query", {"query": "1"}, headers=viewer, status=403)


def about(value):
    return pytest.approx(value, abs=0.001, rel=0.01)


def test_the_preview_shows_what_would_have_happened(rules, clock):
    clock.advance(60 - clock.now().timestamp() % 60)  # whole minutes are stored
    for errors in (1, 90, 1, 1, 1, 1, 1, 1, 1, 60):
        clock.advance(60)
        rules.report(errors=errors, requests=100)
    preview = rules.preview(windowMinutes=1)
    assert (preview["state"], preview["limit"]) == ("firing", 0.05)
    assert (preview["value"], preview["samples"]) == (about(0.6), about(100))
    last = preview["series"][-10:]
    assert [point["value"] for point in last] == [
        about(value) for value in (0.01, 0.9, *[0.01] * 7, 0.6)
    ]
    firing = [point["firing"] for point in last]
    assert firing == [False, True, *[False] * 7, True]
    assert preview["series"][0]["value"] is None


def test_the_preview_reads_hours_before_the_last_two(rules, clock):
    rules.report(ago=20 * 3600, seconds=3600, errors=900, requests=1000)
    rules.report(errors=0, requests=100)
    preview = rules.preview()
    assert preview["state"] == "ok"
    firing = [point["value"] for point in preview["series"] if point["firing"]]
    assert firing[0] == about(0.9)


def test_the_preview_stores_nothing(rules):
    rules.report(errors=90, requests=100)
    assert rules.preview()["state"] == "firing"
    assert (rules.signals(), rules.web.get(PATH, headers=ADMIN).json) == ([], {"alertRules": []})


def test_the_preview_refuses_bad_conditions(rules):
    body = rules.body(above=None)
    rules.web.post_json(f"{PATH}/preview", body, headers=ADMIN, status=400)


def test_samples_are_whole_numbers(rules):
    rules.report(errors=90, requests=1000, seconds=420, ago=60)
    preview = rules.preview()
    assert re.search(r", [1-9]\d+ samples\.$", preview["reason"])
    assert {type(point["samples"]) for point in preview["series"]} == {int}
    rule = rules.create()
    rules.look()
    rule = rules.read(rule)
    assert type(rule["samples"]) is int
    assert rule["samples"] > 0

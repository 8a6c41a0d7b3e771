"""Metric sources, alert rules and schedules in exported files."""

from __future__ import annotations

import json

import pytest
import webtest

from sigservice.clock import format_iso
from tests.conftest import ADMIN

RULES = "/api/admin/alert-rules"
SOURCES = "/api/admin/metric-sources"
SETS = "/api/admin/projects/default/actions"
SECRET = "s3cret-of-prometheus"
SIGNING_SECRET = "whsec_c2VjcmV0LW9mLWEtd2ViaG9vay1yZWNlaXZlcg=="
HOOK = "https://hooks.example.com/s3cret-path"
URL = "https://prometheus.example.com/prom"
MEMBERS = ("metricSources", "alertRules", "schedules")


def post(service, path, body, status=201):
    return webtest.TestApp(service.app).post_json(path, body, headers=ADMIN, status=status).json


def get(service, path):
    return webtest.TestApp(service.app).get(path, headers=ADMIN).json


def make_schedule(actor, **changes):
    params = {"environment": "production", "featureName": "checkout"}
    return {
        "name": "weekend",
        "description": "Off on Friday evening",
        "actorId": actor["id"],
        "match": {"source": "schedule", "cron": "0 22 * * FRI", "timezone": "Europe/Berlin"},
        "actions": [
            {"action": "TOGGLE_FEATURE_OFF", "executionParams": params, "sortOrder": 1},
            {"action": "TOGGLE_FEATURE_ON", "executionParams": params, "sortOrder": 2},
        ],
        "options": {"restoreAfterMinutes": 60, "skipIfLateMinutes": 5},
    } | changes


@pytest.fixture
def source_service(make_service):
    """A service with two metric sources, two alert rules and a schedule."""
    service = make_service()
    auth = {"type": "basic", "username": "ada", "password": SECRET}
    headers = {"X-Scope-OrgID": "shop"}
    post(service, SOURCES, {"name": "main", "url": URL, "auth": auth, "headers": headers})
    post(service, SOURCES, {"name": "open", "url": URL, "timeoutSeconds": 9})
    endpoint = post(service, "/api/admin/signal-endpoints", {"name": "rules"})
    metric = {"kind": "impactMetric", "metric": "errors", "per": "requests", "measure": "ratio"}
    metric |= {"environment": "production", "labels": {"region": "eu"}}
    rule = {"name": "errors", "endpointId": endpoint["id"], "source": metric, "above": 0.05}
    post(service, RULES, rule | {"minSamples": 50, "breaches": 2})
    post(service, "/api/admin/projects/default/features", {"name": "checkout"})
    account = {"username": "robot", "name": "Robot", "rootRole": "Editor"}
    actor = post(service, "/api/admin/service-account", account)
    post(service, SETS, make_schedule(actor))
    return service


@pytest.fixture
def file(tmp_path):
    return str(tmp_path / "export.json")


def read(file):
    with open(file) as text:
        return json.load(text)


def write(file, document):
    with open(file, "w") as text:
        json.dump(document, text)


def test_an_import_into_a_new_installation_exports_the_same_file(
    source_service, empty, command, file, tmp_path
):
    assert command(source_service, "export", file)[0] == 0
    code, out, err = command(empty, "import", file)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    for line in (
        "metric-source main: created",
        "alert-rule errors: created",
        "signal-endpoint rules: created",
        "service-account robot: created",
        "schedule weekend: created",
    ):
        assert line in lines
    second = tmp_path / "second.json"
    assert command(empty, "export", str(second))[0] == 0
    document = read(file)
    assert second.read_bytes() == (tmp_path / "export.json").read_bytes()
    assert [len(document[name]) for name in MEMBERS] == [2, 1, 1]
    (scheduled,) = get(empty, "/api/admin/projects/default/scheduled")["scheduled"]
    assert (scheduled["name"], scheduled["cron"]) == ("weekend", "0 22 * * FRI")
    (rule,) = get(empty, RULES)["alertRules"]
    assert (rule["state"], rule["limit"], rule["breaches"]) == ("unknown", 0.05, 2)


def test_a_rule_on_silence_names_its_endpoint(make_service, empty, command, file):
    service = make_service()
    post(service, "/api/admin/signal-endpoints", {"name": "first"})
    ids = [
        post(service, "/api/admin/signal-endpoints", {"name": name})["id"]
        for name in ("backup", "ops")
    ]
    source = {"kind": "silence", "endpointId": ids[0], "everySeconds": 60}
    post(service, RULES, {"name": "silence", "source": source, "endpointId": ids[1]})
    command(service, "export", file)
    (item,) = read(file)["alertRules"]
    assert (item["endpoint"], item["source"]["endpoint"]) == ("ops", "backup")
    assert command(empty, "import", file)[0] == 0
    (rule,) = get(empty, RULES)["alertRules"]
    endpoints = get(empty, "/api/admin/signal-endpoints")["signalEndpoints"]
    names = {endpoint["id"]: endpoint["name"] for endpoint in endpoints}
    assert names == {rule["endpointId"]: "ops", rule["source"]["endpointId"]: "backup"}
    assert command(empty, "import", file) == (0, "0 changed\n", "")


def test_secrets_are_not_in_the_file_and_must_be_entered_again(
    source_service, empty, command, file
):
    command(source_service, "export", file)
    text = json.dumps(read(file))
    assert SECRET not in text
    code, out, _ = command(empty, "import", file)
    assert code == 0
    head, _, rest = out.partition("Enter again, because a file has no secrets:\n")
    assert "schedule weekend: created" in head
    assert rest.splitlines() == ["  metric source main: its password"]
    sources = get(empty, SOURCES)["metricSources"]
    assert [source["auth"]["hasSecret"] for source in sources] == [False, False]


def test_an_import_where_everything_exists_keeps_the_secrets(source_service, command, file):
    command(source_service, "export", file)
    assert command(source_service, "import", file) == (0, "0 changed\n", "")
    document = read(file)
    document["metricSources"][0]["timeoutSeconds"] = 7
    document["alertRules"][0]["breaches"] = 3
    document["schedules"][0]["match"]["cron"] = "0 21 * * FRI"
    write(file, document)
    code, out, err = command(source_service, "import", file)
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "metric-source main: updated",
        "alert-rule errors: updated",
        "schedule weekend: updated",
        "3 changed",
    ]
    main = get(source_service, SOURCES)["metricSources"][0]
    assert (main["timeoutSeconds"], main["auth"]["hasSecret"]) == (7, True)


def test_what_is_not_valid_refuses_the_import_with_each_path(source_service, empty, command, file):
    command(source_service, "export", file)
    document = read(file)
    document["metricSources"][0]["url"] = "ftp://example.com"
    document["alertRules"][0]["source"]["environment"] = "nowhere"
    document["alertRules"].append(document["alertRules"][0] | {"name": "b", "endpoint": "A b"})
    document["schedules"][0]["match"]["cron"] = "99 * * * *"
    second = document["schedules"][0] | {"name": "other", "project": "nowhere"}
    document["schedules"].append(second)
    document["schedules"].append(second | {"actor": {"username": "x y", "rootRole": "Boss"}})
    write(file, document)
    code, out, err = command(empty, "import", file)
    assert (code, out) == (1, "")
    for path in (
        "metricSources[0].url",
        "alertRules[0].source.environment",
        "alertRules[1].endpoint",
        "schedules[0].match",
        "schedules[1]",
        "schedules[2]",
    ):
        assert f"sigservice: {path}" in err
    assert get(empty, RULES)["alertRules"] == []
    assert get(empty, "/api/admin/signal-endpoints")["signalEndpoints"] == []


def test_a_schedule_whose_time_has_passed_is_skipped(source_service, empty, command, file, clock):
    (item,) = get(source_service, SETS)["actions"]
    at = {"source": "schedule", "at": format_iso(clock.now().replace(year=2100))}
    body = make_schedule({"id": item["actorId"]}, name="once", match=at)
    post(source_service, SETS, body)
    command(source_service, "export", file)
    document = read(file)
    assert [item["name"] for item in document["schedules"]] == ["once", "weekend"]
    document["schedules"][0]["match"]["at"] = "2020-01-01T00:00:00Z"
    write(file, document)
    code, out, _ = command(empty, "import", file)
    assert code == 3
    assert "Skipped:\n  schedule once: its time has passed\n" in out
    assert [item["name"] for item in get(empty, SETS)["actions"]] == ["weekend"]


@pytest.mark.parametrize(
    ("paths", "reason"),
    [
        (
            ("projects/default/features/checkout", "archive/checkout"),
            "its flag checkout isn't here",
        ),
        (
            ("projects/default/environments/production",),
            "the project doesn't use its environment production",
        ),
    ],
)
def test_a_schedule_whose_target_is_gone_is_skipped(
    source_service, empty, command, file, paths, reason
):
    web = webtest.TestApp(source_service.app)
    for path in paths:
        web.delete(f"/api/admin/{path}", headers=ADMIN)
    command(source_service, "export", file)
    code, out, err = command(empty, "import", file)
    assert (code, err) == (3, "")
    assert f"schedule weekend: {reason}" in out
    assert get(empty, SETS)["actions"] == []


def test_a_rule_whose_environment_is_deleted_is_not_exported(source_service, empty, command, file):
    post(source_service, "/api/admin/environments", {"name": "stage", "type": "test"})
    (rule,) = get(source_service, RULES)["alertRules"]
    body = {name: rule[name] for name in ("endpointId", "source", "above")} | {"name": "stage"}
    post(source_service, RULES, body | {"source": rule["source"] | {"environment": "stage"}})
    web = webtest.TestApp(source_service.app)
    web.delete("/api/admin/environments/stage", headers=ADMIN)
    command(source_service, "export", file)
    assert [item["name"] for item in read(file)["alertRules"]] == ["errors"]
    assert command(empty, "import", file)[0] == 0


def test_a_dry_run_writes_nothing(source_service, empty, command, file):
    command(source_service, "export", file)
    code, out, _ = command(empty, "import", file, "--dry-run")
    assert code == 0
    assert "alert-rule errors: created" in out
    assert get(empty, RULES)["alertRules"] == []


def test_too_many_rules_refuse_the_import(source_service, empty, command, file):
    command(source_service, "export", file)
    document = read(file)
    rule = document["alertRules"][0]
    document["alertRules"] = [rule | {"name": f"rule-{number}"} for number in range(51)]
    write(file, document)
    code, out, err = command(empty, "import", file)
    assert (code, out) == (1, "")
    assert "There can't be more than 50 alert rules." in err
    assert get(empty, RULES)["alertRules"] == []

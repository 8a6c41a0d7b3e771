"""Recipes do what they promise, through the real worker, and their texts are what they show."""

from __future__ import annotations

import json
import re
from datetime import datetime, timedelta

import pytest

from sigservice.config import load_config
from sigservice.services.actions import action_filters
from sigservice.services.actions.action_filters import Matcher
from sigservice.services.actions.action_templates import TEMPLATES
from sigservice.services.problems import Problems
from sigservice.services.signals import endpoint_templates
from tests.actions_kit import Alerts
from tests.conftest import ADMIN
from tests.table_tests import each

RESOLVING = [name for name, recipe in TEMPLATES.items() if recipe.resolved_sample]


@pytest.fixture
def alerts(service, web, make):
    return Alerts(service, web, make)


def test_it_switches_off_and_on_again(alerts, web):
    one = alerts.set()

    @each("name", RESOLVING)
    def check(name):
        recipe = find_recipe(web, name)
        alerts.put(one, filters=recipe["filters"], options=recipe["options"])
        alerts.send(recipe["sample"])
        alerts.work()
        assert not alerts.is_on()
        alerts.send(recipe["resolvedSample"])
        alerts.work()
        assert alerts.is_on()
        assert [run["cause"] for run in alerts.runs(one["id"])[:2]] == ["resolved", "signal"]

    check()


def test_events_of_kubernetes_switch_for_an_hour(alerts, web):
    recipe = find_recipe(web, "kubernetes")
    one = alerts.set(filters=recipe["filters"], options=recipe["options"])
    alerts.send(recipe["sample"])
    alerts.work()
    assert not alerts.is_on()
    run = alerts.runs(one["id"])[0]
    due_at, finished_at = (
        datetime.fromisoformat(run[name]) for name in ("restoreDueAt", "finishedAt")
    )
    assert due_at - finished_at == timedelta(hours=1)


@each("name", TEMPLATES)
def test_filters_tell_firing_from_over(name):
    recipe = TEMPLATES[name]
    matcher = Matcher(recipe.filters)
    assert matcher.matches(recipe.sample)
    assert not matcher.matches(recipe.resolved_sample)
    assert not matcher.matches({})


@each("name", TEMPLATES)
def test_it_is_valid_under_default_limits(name):
    limits, problems = load_config({}, {}).config["actions"], Problems()
    action_filters.check_filters(
        TEMPLATES[name].filters,
        problems,
        max_filters=limits["filtersLimit"] - 1,  # people add one of their own
        max_values=limits["filterValuesLimit"],
    )
    assert problems.details == []


def test_the_list_is_whole_and_for_admins(web, cast):
    assert set(TEMPLATES) == {*endpoint_templates.TEMPLATES, "silence"}
    listing = web.get("/api/admin/action-recipes", headers=ADMIN).json["recipes"]
    assert [recipe["name"] for recipe in listing] == list(TEMPLATES)
    keys = {"name", "title", "filters", "options", "sample", "resolvedSample", "setup"}
    keys |= {"endpointOptions", "credentials", "page"}
    assert all(set(recipe) - {"signature"} == keys for recipe in listing)
    signed = {recipe["name"] for recipe in listing if recipe.get("signature")}
    assert signed == {"grafana", "sentry", "pagerduty", "github-webhooks", "aws-sns"}
    cast.signed_in("ed").get("/api/admin/action-recipes", status=403)
    web.get("/api/admin/action-recipes", status=401)


def test_grafanas_test_button_switches_nothing():
    recipe = TEMPLATES["grafana"]
    alert = recipe.sample["alerts"][0]
    test = alert | {"labels": {"alertname": "TestAlert", "instance": "Grafana"}}
    matcher = Matcher(recipe.filters)
    assert not matcher.matches(recipe.sample | {"alerts": [test]})
    assert matcher.matches(recipe.sample | {"alerts": [test, alert]})


OTHER_EVENTS = [
    ("datadog", {"type": "datadog", "data": {"transition": "Warn", "cycle": "1"}}),
    ("sentry", {"action": "created", "data": {"comment": "a", "issue_id": 100}}),
    ("sentry", {"action": "assigned", "data": {"issue": {"id": "1", "level": "error"}}}),
    ("pagerduty", {"event": {"event_type": "incident.acknowledged", "data": {"id": "Q"}}}),
    ("pagerduty", {"event": {"event_type": "pagey.ping", "data": {"message": "Hello"}}}),
    ("github", {"type": "workflow_run", "data": {"workflow_run": {"conclusion": None}}}),
    ("github-webhooks", {"zen": "Design for failure.", "hook_id": 1, "hook": {"type": "App"}}),
    ("github-webhooks", {"action": "requested", "workflow_run": {"conclusion": None}}),
    ("gitlab", {"object_kind": "push", "ref": "refs/heads/main"}),
    ("gitlab", {"object_kind": "pipeline", "object_attributes": {"status": "running"}}),
    ("uptime-kuma", {"heartbeat": None, "monitor": None, "msg": "sigservice Testing"}),
    ("uptime-kuma", {"heartbeat": {"status": 2}, "monitor": {"id": 1}, "msg": "Pending"}),
    ("healthchecks", {"type": "healthchecks", "data": {"status": "down", "name": "TEST"}}),
    ("opsgenie", {"action": "Acknowledge", "alert": {"alertId": "a", "alias": "b"}}),
    ("opsgenie", {"action": "AddNote", "alert": {"alertId": "a", "alias": "b"}}),
    ("aws-sns", {"Type": "SubscriptionConfirmation", "Message": "You have chosen to subscribe"}),
    ("aws-sns", {"Type": "Notification", "Message": {"NewStateValue": "INSUFFICIENT_DATA"}}),
    ("cloudevents", {"specversion": "1.0", "type": "org.example.other", "subject": "checkout"}),
    ("kubernetes", {"kind": "Event", "type": "Normal", "reason": "BackOff"}),
]


@each("case", OTHER_EVENTS, name=lambda case: f"{case[0]}: {case[1]}")
def test_other_events_are_let_be(case):
    name, payload = case
    assert not Matcher(TEMPLATES[name].filters).matches(payload)


@each("name", endpoint_templates.TEMPLATES)
def test_setup_names_address_and_credentials(name):
    recipe = TEMPLATES[name]
    assert "ENDPOINT_URL" in recipe.setup
    assert "SIGNAL_TOKEN" in recipe.setup or "signature token" in recipe.setup
    assert max(len(line) for line in recipe.setup.splitlines()) <= 110


@each("name", [name for name, recipe in TEMPLATES.items() if recipe.endpoint.signature])
def test_setup_names_the_scheme_of_signatures(name):
    recipe = TEMPLATES[name]
    assert f"the scheme {recipe.endpoint.signature.scheme}" in " ".join(recipe.setup.split())


@pytest.mark.parametrize(
    ("name", "identity"), [("datadog", "$ALERT_CYCLE_KEY"), ("healthchecks", "$CODE")]
)
def test_the_payload_template_has_the_paths_of_the_sample(name, identity):
    recipe = TEMPLATES[name]
    text = re.search(r"^\{.*?^\}", recipe.setup, re.M | re.S)[0]
    template = json.loads(text.replace("$NAME_JSON", '"$NAME"'))  # includes its quotes
    assert set(template["data"]) == set(recipe.sample["data"])
    assert template["type"] == recipe.sample["type"]
    assert identity in template["data"].values()


def test_githubs_workflow_picks_the_fields_of_the_sample():
    recipe = TEMPLATES["github"]
    picked = re.search(r"\.workflow_run \| \{(.*?)\}", recipe.setup, re.S)[1]
    assert {name.strip() for name in picked.split(",")} == set(
        recipe.sample["data"]["workflow_run"]
    )


def find_recipe(web, name):
    listing = web.get("/api/admin/action-recipes", headers=ADMIN).json["recipes"]
    return {recipe["name"]: recipe for recipe in listing}[name]

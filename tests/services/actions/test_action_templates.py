"""Recipes do what they promise, through the real worker, and their texts are what they show."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from sigservice.config import load_config
from sigservice.services.actions import action_filters
from sigservice.services.actions.action_filters import Matcher
from sigservice.services.actions.action_templates import TEMPLATES
from sigservice.services.problems import Problems
from sigservice.services.signals.payload_paths import flatten_payload
from tests.actions_kit import Alerts
from tests.conftest import ADMIN

GUIDE = (Path(__file__).parents[3] / "docs" / "signals.md").read_text()
NAMES = ["alertmanager", "grafana", "datadog", "sentry", "pagerduty", "github", "generic"]


@pytest.fixture
def alerts(service, web, make):
    return Alerts(service, web, make)


@pytest.mark.parametrize("name", NAMES)
def test_it_switches_off_and_on_again(alerts, web, name):
    listing = web.get("/api/admin/action-recipes", headers=ADMIN).json["recipes"]
    recipe = {recipe["name"]: recipe for recipe in listing}[name]
    one = alerts.set(filters=recipe["filters"], options=recipe["options"])
    alerts.send(recipe["sample"])
    alerts.work()
    assert not alerts.is_on()
    alerts.send(recipe["resolvedSample"])
    alerts.work()
    assert alerts.is_on()
    assert [run["cause"] for run in alerts.runs(one["id"])] == ["resolved", "signal"]


@pytest.mark.parametrize("name", NAMES)
def test_filters_tell_firing_from_over(name):
    recipe = TEMPLATES[name]
    matcher = Matcher(recipe.filters)
    assert matcher.matches(recipe.sample)
    assert not matcher.matches(recipe.resolved_sample)
    assert not matcher.matches({})


@pytest.mark.parametrize("name", NAMES)
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
    assert list(TEMPLATES) == NAMES
    listing = web.get("/api/admin/action-recipes", headers=ADMIN).json["recipes"]
    assert [recipe["name"] for recipe in listing] == NAMES
    keys = {"name", "title", "filters", "options", "sample", "resolvedSample", "setup"}
    assert all(set(recipe) == keys and all(recipe.values()) for recipe in listing)
    cast.signed_in("ed").get("/api/admin/action-recipes", status=403)
    web.get("/api/admin/action-recipes", status=401)


def test_grafanas_test_button_switches_nothing():
    recipe = TEMPLATES["grafana"]
    alert = recipe.sample["alerts"][0]
    test = alert | {"labels": {"alertname": "TestAlert", "instance": "Grafana"}}
    matcher = Matcher(recipe.filters)
    assert not matcher.matches(recipe.sample | {"alerts": [test]})
    assert matcher.matches(recipe.sample | {"alerts": [test, alert]})


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("datadog", {"type": "datadog", "data": {"transition": "Warn", "cycle": "1"}}),
        ("sentry", {"action": "created", "data": {"comment": "a", "issue_id": 100}}),
        ("sentry", {"action": "assigned", "data": {"issue": {"id": "1", "level": "error"}}}),
        ("pagerduty", {"event": {"event_type": "incident.acknowledged", "data": {"id": "Q"}}}),
        ("pagerduty", {"event": {"event_type": "pagey.ping", "data": {"message": "Hello"}}}),
        ("github", {"type": "workflow_run", "data": {"workflow_run": {"conclusion": None}}}),
    ],
)
def test_other_events_are_let_be(name, change):
    assert not Matcher(TEMPLATES[name].filters).matches(change)


@pytest.mark.parametrize(
    ("name", "heading"),
    [
        ("alertmanager", "### Prometheus Alertmanager"),
        ("grafana", "### Grafana"),
        ("datadog", "### Datadog"),
    ],
)
def test_samples_have_the_paths_of_the_guide(name, heading):
    section = GUIDE.split(heading)[1].split("\n### ")[0]
    text = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", section, re.S)]
    assert text
    sample = set(flatten_payload(TEMPLATES[name].sample))
    assert any(set(flatten_payload(block)) <= sample for block in text)


@pytest.mark.parametrize("name", NAMES)
def test_setup_names_address_and_token(name):
    setup = TEMPLATES[name].setup
    assert "ENDPOINT_URL" in setup
    assert "SIGNAL_TOKEN" in setup
    assert max(len(line) for line in setup.splitlines()) <= 110


def test_datadogs_template_gives_the_paths_of_the_sample():
    recipe = TEMPLATES["datadog"]
    template = json.loads(re.search(r"^\{.*?^\}", recipe.setup, re.M | re.S)[0])
    assert set(template["data"]) == set(recipe.sample["data"])
    assert template["type"] == recipe.sample["type"]
    assert template["data"]["cycle"] == "$ALERT_CYCLE_KEY"


def test_githubs_workflow_picks_the_fields_of_the_sample():
    recipe = TEMPLATES["github"]
    picked = re.search(r"\.workflow_run \| \{(.*?)\}", recipe.setup, re.S)[1]
    assert {name.strip() for name in picked.split(",")} == set(
        recipe.sample["data"]["workflow_run"]
    )

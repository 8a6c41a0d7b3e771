"""Recipes do what they promise, through the real worker, and their texts are what they show."""

from __future__ import annotations

import functools
import json
import operator
import re
import tomllib
from datetime import datetime, timedelta

import msgspec
import pytest

from sigservice.config import load_config
from sigservice.senders import FOLDER, SENDERS, list_external
from sigservice.services.actions import action_filters, action_set_options
from sigservice.services.actions.action_filters import Matcher
from sigservice.services.problems import Problems
from sigservice.services.signals import endpoint_options
from tests.actions_kit import Alerts
from tests.conftest import ADMIN
from tests.senders.kit import read_test
from tests.table_tests import each

RESOLVING = [name for name, sender in SENDERS.items() if sender.samples.resolved]


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


# The member of a sample by which its signal is of something else, and its value there. A signal
# that fires matches with another project or source, which is an alert of its own.
RUN = ["workflow_run"]
OTHERS = [
    ("github", ["data", *RUN, "head_branch"], "other"),
    ("github", ["data", *RUN, "event"], "pull_request"),
    ("github", ["data", *RUN, "event"], "pull_request_target"),
    ("github-webhooks", [*RUN, "head_branch"], "other"),
    ("github-webhooks", [*RUN, "event"], "pull_request"),
    ("gitlab", ["object_attributes", "ref"], "other"),
    ("gitlab", ["object_attributes", "tag"], True),
    ("gitlab", ["object_attributes", "source"], "merge_request_event"),
    ("gitlab", ["object_attributes", "source"], "parent_pipeline"),  # of a merge request
    ("gitlab", ["project", "path_with_namespace"], "other"),
    ("cloudevents", ["source"], "/other"),
    ("datadog", ["data", "title"], "[TEST] [Triggered] Shop: error rate"),
    ("grafana", ["alerts", 0, "annotations", "grafana_state_reason"], "NoData"),
    ("grafana", ["alerts", 0, "annotations", "grafana_state_reason"], "MissingSeries"),
]


def change_sample(sample, path, value):
    changed = json.loads(json.dumps(sample))
    *parents, member = path
    functools.reduce(operator.getitem, parents, changed)[member] = value
    return changed


def test_signals_of_something_else_neither_disable_nor_enable_a_flag(alerts, web):
    one = alerts.set()

    @each("case", OTHERS, name=str)
    def check(case):
        name, *change = case
        recipe = find_recipe(web, name)
        alerts.put(one, filters=recipe["filters"], options=recipe["options"])
        if change[0][0] not in ("project", "source"):
            alerts.send(change_sample(recipe["sample"], *change))
            alerts.work()
            assert alerts.is_on()
        alerts.send(recipe["sample"])
        alerts.send(change_sample(recipe["resolvedSample"], *change))
        alerts.work()
        assert not alerts.is_on()
        alerts.send(recipe["resolvedSample"])
        alerts.work()
        assert alerts.is_on()

    check()


@pytest.mark.parametrize("name", ["DatasourceNoData", "DatasourceError", "TestAlert"])
def test_alerts_of_grafana_itself_disable_no_flag(name):
    sample = SENDERS["grafana"].samples.firing
    other = change_sample(sample, ["alerts", 0, "labels", "alertname"], name)
    matcher = Matcher(SENDERS["grafana"].filters)
    assert not matcher.matches(other)
    assert matcher.matches(other | {"alerts": [*other["alerts"], *sample["alerts"]]})


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


@each("name", SENDERS)
def test_filters_tell_firing_from_over(name):
    recipe = SENDERS[name]
    matcher = Matcher(recipe.filters)
    assert matcher.matches(recipe.samples.firing)
    assert not matcher.matches(recipe.samples.resolved)
    assert not matcher.matches({})


@each("name", SENDERS)
def test_it_is_valid_under_default_limits(name):
    limits, problems = load_config({}, {}).config["actions"], Problems()
    action_filters.check_filters(
        SENDERS[name].filters,
        problems,
        max_filters=limits["filtersLimit"] - 1,  # people add one of their own
        max_values=limits["filterValuesLimit"],
    )
    endpoint_options.check_options(SENDERS[name].endpoint_options, problems)
    options = SENDERS[name].action_set_options
    action_set_options.check_options(options, problems, is_scheduled=False)
    assert problems.details == []


@each("name", SENDERS)
def test_it_has_no_member_that_nothing_reads(name):
    sender = msgspec.to_builtins(SENDERS[name])
    values = tomllib.loads((FOLDER / name / "sender.toml").read_text())
    assert list_paths(values) <= list_paths(sender) | {"endpointOptions.rateLimit.status"}


def list_paths(values, prefix=""):
    """Of the members in dicts and in lists of dicts."""
    paths = set()
    for key, value in values.items():
        items = value if isinstance(value, list) else [value]
        paths.add(f"{prefix}{key}")
        for item in items:
            if isinstance(item, dict):
                paths |= list_paths(item, f"{prefix}{key}.")
    return paths


def test_the_list_is_whole_and_for_admins(web, cast):
    assert set(SENDERS) == {file.parent.name for file in FOLDER.glob("*/setup.txt")}
    assert set(SENDERS) == {*list_external(), "silence"}
    listing = web.get("/api/admin/action-recipes", headers=ADMIN).json["recipes"]
    assert [recipe["name"] for recipe in listing] == list(SENDERS)
    keys = {"name", "title", "filters", "options", "sample", "resolvedSample", "setup"}
    keys |= {"endpointOptions", "credentials", "page"}
    assert all(set(recipe) - {"signature"} == keys for recipe in listing)
    cast.signed_in("ed").get("/api/admin/action-recipes", status=403)
    web.get("/api/admin/action-recipes", status=401)


OTHER_EVENTS = [
    (name, payload) for name in list_external() for payload in read_test(name).get("ignored", [])
]


@each("case", OTHER_EVENTS, name=lambda case: f"{case[0]}: {case[1]}")
def test_other_events_are_let_be(case):
    name, payload = case
    assert not Matcher(SENDERS[name].filters).matches(payload)


@each("name", list_external())
def test_setup_names_address_and_credentials(name):
    recipe = SENDERS[name]
    assert "ENDPOINT_URL" in recipe.setup
    assert "SIGNAL_TOKEN" in recipe.setup or "signature token" in recipe.setup
    assert max(len(line) for line in recipe.setup.splitlines()) <= 110


@each("name", [name for name, recipe in SENDERS.items() if recipe.signature])
def test_setup_names_the_scheme_of_signatures(name):
    recipe = SENDERS[name]
    assert f"the scheme {recipe.signature.scheme}" in " ".join(recipe.setup.split())


@pytest.mark.parametrize(
    ("name", "identity"), [("datadog", "$ALERT_CYCLE_KEY"), ("healthchecks", "$CODE")]
)
def test_the_payload_template_has_the_paths_of_the_sample(name, identity):
    recipe = SENDERS[name]
    text = re.search(r"^\{.*?^\}", recipe.setup, re.M | re.S)[0]
    template = json.loads(text.replace("$NAME_JSON", '"$NAME"'))  # includes its quotes
    assert set(template["data"]) == set(recipe.samples.firing["data"])
    assert template["type"] == recipe.samples.firing["type"]
    assert identity in template["data"].values()


def test_githubs_workflow_picks_the_fields_of_the_sample():
    recipe = SENDERS["github"]
    picked = re.search(r"\.workflow_run \| \{(.*?)\}", recipe.setup, re.S)[1]
    assert {name.strip() for name in picked.split(",")} == set(
        recipe.samples.firing["data"]["workflow_run"]
    )


def find_recipe(web, name):
    listing = web.get("/api/admin/action-recipes", headers=ADMIN).json["recipes"]
    return {recipe["name"]: recipe for recipe in listing}[name]

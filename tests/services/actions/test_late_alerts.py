"""Signals that say that an alert fires, and arrive after the end of this alert."""

from __future__ import annotations

import json
import re

import pytest

from sigservice.jobs import retention
from sigservice.senders import SENDERS
from tests.actions_kit import Alerts
from tests.conftest import ADMIN
from tests.table_tests import each

# The sample of `generic` has no time, which is optional there.
TIMED = [name for name, sender in SENDERS.items() if sender.times and name != "generic"]
LATE = "The signal is late: the alert has resolved since."


@pytest.fixture
def alerts(service, web, make):
    return Alerts(service, web, make)


def use(alerts, name, **more):
    """A set of the sender's template; returns it with the payloads of the samples, and of another
    alert with the same key, which fires a day later."""
    sender = SENDERS[name]
    alerts.rows("UPDATE signal_endpoints SET template = %s RETURNING id", name)
    recipe = alerts.web.get("/api/admin/action-recipes", headers=ADMIN).json["recipes"]
    (one,) = [item for item in recipe if item["name"] == name]
    row = alerts.set(name=name, filters=one["filters"], options=one["options"] | more)
    text = json.dumps(sender.samples.firing)
    later = re.sub(r"2026-11-21(?=[T ])", "2026-11-22", text)
    later = re.sub(r'("(?:updatedAt|date)": "?179)5', r"\g<1>6", later)
    return row, sender.samples.firing, sender.samples.resolved, json.loads(later)


@pytest.mark.parametrize("is_known", [True, False])
@pytest.mark.parametrize("at_once", [True, False])
def test_a_late_signal_does_not_switch_the_flag_of_an_alert_that_has_ended(
    alerts, web, is_known, at_once
):
    def send(payload):
        alerts.send(payload)
        if not at_once:
            alerts.work()

    @each("name", TIMED)
    def check(name):
        one, firing, resolved, later = use(alerts, name)
        for payload in [firing, resolved, firing] if is_known else [resolved, firing]:
            send(payload)
        alerts.work()
        assert alerts.is_on()
        newest = alerts.runs(one["id"])[0]
        assert (newest["state"], newest["reason"]) == ("suppressed", LATE)
        send(later)
        send(firing)  # again: it says nothing about the later alert
        alerts.work()
        assert not alerts.is_on()
        web.delete(f"/api/admin/projects/default/actions/{one['id']}", headers=ADMIN)
        alerts.switch("checkout", "on")

    check()


@pytest.mark.parametrize("template", [None, "pagerduty"])
def test_a_signal_without_a_known_time_runs_the_set(alerts, template):
    _, firing, resolved, _ = use(alerts, "pagerduty")
    alerts.rows("UPDATE signal_endpoints SET template = %s RETURNING id", template)
    if template:
        firing = {"event": firing["event"] | {"occurred_at": "soon"}}
    for payload in (firing, resolved, firing):
        alerts.send(payload)
    alerts.work()
    assert not alerts.is_on()


def test_the_end_of_an_alert_is_known_for_an_hour(alerts):
    _, firing, resolved, _ = use(alerts, "pagerduty")
    alerts.send(resolved)
    alerts.work()
    past = "UPDATE alerts SET reported_at = reported_at - make_interval(mins => %s) RETURNING 1"
    for minutes, is_on in ((58, True), (3, False)):
        alerts.rows(past, minutes)
        alerts.send(firing)
        alerts.work()
        assert alerts.is_on() is is_on
    alerts.send(resolved)
    alerts.work()
    for minutes, count in ((58, 1), (3, 0)):
        alerts.rows(past, minutes)
        retention.run_once(alerts.service.context)
        assert alerts.rows("SELECT count(*) FROM alerts") == [(count,)]


@pytest.mark.parametrize(
    "end", ["9999-12-31T23:59:59-12:00", "0001-01-01T00:00:00+12:00", "9999-12-31T23:59:59Z"]
)
def test_an_impossible_end_of_an_alert_blocks_no_later_signal(alerts, end):
    one, firing, resolved, _ = use(alerts, "pagerduty")
    resolved = {"event": resolved["event"] | {"occurred_at": end}}
    for payload in (resolved, firing, resolved, firing):
        alerts.send(payload)
        alerts.work()
    assert not alerts.is_on()
    assert alerts.runs(one["id"])[0]["state"] == "success"

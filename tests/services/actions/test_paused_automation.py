"""Automation that is paused in an emergency, and the undo of what it did."""

from __future__ import annotations

import pytest

from tests.conftest import ADMIN
from tests.reverting_kit import Both

PATH = "/api/admin/emergency"


@pytest.fixture
def alerts(service, web, make):
    return Both(service, web, make)


def pause(alerts):
    body = {"pauseAutomation": True, "reason": "noise"}
    alerts.web.post_json(PATH, body, headers=ADMIN)


def test_a_paused_set_is_skipped_and_nothing_is_made_up_for(alerts):
    alerts.restoring()
    pause(alerts)
    alerts.fire()
    alerts.work()
    assert alerts.is_on()
    assert alerts.history()[0][1:] == ("suppressed", "Automation is paused.")
    alerts.web.delete(f"{PATH}?what=pause", headers=ADMIN)
    alerts.work()
    assert alerts.is_on()
    alerts.fire()
    alerts.work()
    assert not alerts.is_on()


def test_a_pause_keeps_what_an_alert_holds(alerts):
    alerts.restoring()
    alerts.fire()
    alerts.work()
    pause(alerts)
    alerts.end()
    alerts.work()
    assert not alerts.is_on()


def test_what_automation_did_is_undone_and_its_alert_is_ignored(alerts):
    alerts.restoring()
    alerts.fire()
    alerts.work()
    body = {"undoMinutes": 60, "reason": "noise", "dryRun": True}
    (change,) = alerts.web.post_json(PATH, body, headers=ADMIN).json["changes"]
    assert (change["from"]["enabled"], change["to"]["enabled"]) == (False, True)
    assert change["runId"] == alerts.runs(alerts.id)[0]["id"]
    alerts.web.post_json(PATH, body | {"dryRun": False}, headers=ADMIN)
    alerts.work()
    assert alerts.is_on()
    alerts.fire()
    alerts.work()
    assert alerts.is_on()
    assert alerts.web.post_json(PATH, body, headers=ADMIN).json["changes"] == []

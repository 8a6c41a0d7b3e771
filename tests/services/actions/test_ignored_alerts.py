"""Alerts that are ignored until they resolve."""

from __future__ import annotations

import threading

import pytest
import webtest

from sigservice.jobs import actions
from tests.actions_kit import SETS
from tests.conftest import ADMIN, Make
from tests.reverting_kit import Both
from tests.waiting import DEADLINE_SECONDS

IGNORED = "Ignored until the alert resolves."


@pytest.fixture
def alerts(service, web, make):
    return Both(service, web, make)


def path(alerts, run):
    return f"{SETS}/{alerts.id}/events/{run['id']}/ignore-alert"


def ignore(alerts):
    """Ignores the alert of the newest run, then undoes the run."""
    run = alerts.runs(alerts.id)[0]
    alerts.post(path(alerts, run))
    alerts.undo(run)
    alerts.work()
    assert alerts.is_on()
    return run


def test_a_repeated_alert_that_is_ignored_does_not_run_the_set(alerts):
    alerts.restoring()
    alerts.fire()
    alerts.work()
    ignore(alerts)
    signal = alerts.fire()
    alerts.work()
    assert alerts.is_on()
    newest = alerts.runs(alerts.id)[0]
    assert (newest["state"], newest["reason"]) == ("suppressed", IGNORED)
    assert alerts.find_result(signal) == "suppressed"


def test_without_ignoring_an_undo_lasts_until_the_next_repeat(alerts):
    alerts.restoring()
    alerts.fire()
    alerts.work()
    alerts.undo(alerts.runs(alerts.id)[0])
    alerts.fire()
    alerts.work()
    assert not alerts.is_on()


def test_an_alert_that_resolved_runs_the_set_again(alerts):
    alerts.restoring()
    alerts.fire()
    alerts.work()
    ignore(alerts)
    alerts.fire()
    signal = alerts.end()
    alerts.work()
    assert alerts.find_result(signal) == "nothing to revert"
    alerts.fire()
    alerts.work()
    assert not alerts.is_on()


def test_an_alert_that_resolved_while_its_set_was_disabled_runs_the_set_again(alerts):
    alerts.restoring()
    alerts.fire()
    alerts.work()
    ignore(alerts)
    alerts.post(f"{SETS}/{alerts.id}/off")
    alerts.end()
    alerts.work()
    alerts.post(f"{SETS}/{alerts.id}/on")
    alerts.fire()
    alerts.work()
    assert not alerts.is_on()


def test_in_one_batch_only_signals_before_the_resolved_one_are_ignored(alerts):
    alerts.restoring()
    alerts.fire()
    alerts.work()
    ignore(alerts)
    alerts.fire()
    alerts.end()
    alerts.fire()
    alerts.work()
    states = [run["state"] for run in alerts.runs(alerts.id)]
    assert states[:2] == ["success", "suppressed"]
    assert not alerts.is_on()


def test_another_alert_of_the_set_still_runs_it(alerts):
    alerts.restoring()
    alerts.fire("a")
    alerts.work()
    ignore(alerts)
    alerts.fire("b")
    alerts.work()
    assert not alerts.is_on()


def test_an_ignored_alert_does_not_keep_the_changes_of_another_one(alerts):
    alerts.restoring()
    alerts.fire("a")
    alerts.work()
    ignore(alerts)
    alerts.fire("b")
    alerts.fire("a")
    alerts.end("b")
    alerts.work()
    assert alerts.is_on()


def test_an_alert_that_no_one_ignores_any_longer_runs_the_set_again(alerts):
    alerts.restoring()
    alerts.fire()
    alerts.work()
    run = ignore(alerts)
    alerts.web.delete(path(alerts, run), headers=ADMIN)
    alerts.fire()
    alerts.work()
    assert not alerts.is_on()
    alerts.web.delete(path(alerts, run), headers=ADMIN, status=409)


def test_only_an_alert_that_fires_can_be_ignored(alerts):
    alerts.restoring()
    alerts.fire()
    alerts.work()
    run = alerts.runs(alerts.id)[0]
    alerts.end()
    alerts.work()
    assert "isn't firing" in alerts.post(path(alerts, run), 409).json["message"]
    alerts.post(f"{SETS}/{alerts.id}/events/999/ignore-alert", 404)


def test_the_api_lists_ignored_alerts_with_their_keys_for_admins_only(alerts, cast):
    alerts.restoring()
    alerts.fire("hunter2")
    alerts.work()
    run = ignore(alerts)
    (ignored,) = alerts.web.get("/api/admin/alerts", headers=ADMIN).json["ignoredAlerts"]
    assert (ignored["runId"], ignored["key"]) == (run["id"], "hunter2")
    (ignored,) = cast.signed_in("vera").get("/api/admin/alerts").json["ignoredAlerts"]
    assert ignored["key"] is None
    assert ignored["actionSet"] == {"id": alerts.id, "name": "kill checkout"}


def test_the_audit_log_says_who_ignored_an_alert(alerts):
    alerts.restoring()
    alerts.fire()
    alerts.work()
    run = ignore(alerts)
    events = alerts.web.get("/api/admin/events", headers=ADMIN).json["events"]
    (event,) = [event for event in events if event["type"] == "actions-alert-ignored"]
    assert (event["data"]["runId"], event["createdBy"]) == (run["id"], "admin")


def test_a_deleted_set_leaves_no_ignored_alerts(alerts):
    alerts.restoring()
    alerts.fire()
    alerts.work()
    ignore(alerts)
    alerts.web.delete(f"{SETS}/{alerts.id}", headers=ADMIN)
    assert alerts.rows("SELECT run_id FROM alerts") == []


def test_processes_that_repeat_an_alert_while_it_is_ignored_leave_the_flag_on(make_service):
    services = [make_service(), make_service()]
    web = webtest.TestApp(services[0].app)
    alerts = Both(services[0], web, Make(web))
    alerts.restoring()
    alerts.fire()
    alerts.work()
    run, gate = alerts.runs(alerts.id)[0], threading.Barrier(3)
    for _ in range(20):
        alerts.fire()

    def work(service):
        gate.wait(DEADLINE_SECONDS)
        actions.run_once(service.context)

    threads = [threading.Thread(target=work, args=(service,)) for service in services]
    for thread in threads:
        thread.start()
    gate.wait(DEADLINE_SECONDS)
    alerts.post(path(alerts, run))
    for thread in threads:
        thread.join(DEADLINE_SECONDS)
    for run in alerts.runs(alerts.id):  # repeats that were evaluated before the decision
        has_changes = any(action.get("changes") for action in run["actionSet"]["actions"])
        if run["state"] == "success" and run["restoredByRunId"] is None and has_changes:
            alerts.undo(run)
    alerts.work()
    assert alerts.is_on()
    for service in services:
        alerts.fire()
        actions.run_once(service.context)
    assert alerts.is_on()

"""Events of runs, alert rules and releases: one thing that happened is one message."""

from __future__ import annotations

import pytest
import webtest

from sigservice.repository.actions import action_runs
from sigservice.repository.system import audit_log
from tests.actions_kit import SETS, Alerts
from tests.conftest import ADMIN, Cast, Make
from tests.integrations_kit import ENVIRON, URL, Integrations
from tests.jobs.release_kit import Releases

RESOLVING = {"path": "status", "values": ["resolved"], "key": "alert"}


@pytest.fixture
def kit(make_service, receiver, clock):
    return Integrations(make_service(environ=ENVIRON), receiver, clock)


@pytest.fixture
def alerts(kit):
    web = webtest.TestApp(kit.service.app)
    return Alerts(kit.service, web, Make(web))


def send(kit, *types, **more):
    """Creates an integration; returns a function that sends what is due, and lists types."""
    kit.create(events=list(types) or ["*"], **more)

    def list_types():
        kit.receiver.requests.clear()
        kit.run()
        return [body["type"] for body in kit.bodies()]

    list_types()
    return list_types


def fire(alerts, status="firing", alert="a", **more):
    alerts.send({"status": status, "alert": alert, "title": f"Errors of {alert}"} | more)
    alerts.work()


def list_events(kit, type):
    path = f"/api/admin/search/events?type=IS:{type}"
    return kit.call("get", path, status=200)["events"]


def test_an_alert_that_switches_a_flag_is_one_message(kit, alerts):
    action_set = alerts.set(options={"restoreWhenResolved": RESOLVING})
    list_types = send(kit)
    fire(alerts)
    assert list_types() == ["action-run-succeeded"]
    (event,) = kit.bodies()
    (run,) = alerts.runs(action_set["id"])
    assert event["data"] == {
        "runId": run["id"],
        "actionSetId": action_set["id"],
        "actionSetName": "kill checkout",
        "cause": "signal",
        "reason": None,
        "alert": {
            "key": "a",
            "name": "Errors of a",
            "summary": "title: Errors of a · status: firing · alert: a",
            "signalId": run["signalId"],
            "endpoint": "alerts",
        },
        "flags": [
            {"name": "checkout", "environment": "production", "before": True, "after": False}
        ],
        "restoreDueAt": None,
        "url": f"{URL}/admin/projects/default/actions/{action_set['id']}/runs/{run['id']}",
    }
    place = (event["project"], event["environment"], event["featureName"])
    assert (event["createdBy"], place) == ("robot", ("default", "production", "checkout"))
    (change,) = list_events(kit, "feature-environment-disabled")
    assert change["data"]["cause"] == {"eventId": event["id"], "type": "action-run-succeeded"}
    fire(alerts, "resolved")
    assert list_types() == ["action-run-reverted"]
    (event,) = kit.bodies()
    assert (event["data"]["cause"], event["data"]["alert"]["key"]) == ("resolved", "a")
    assert event["data"]["flags"][0]["after"] is True


def test_an_undo_is_one_message(kit, alerts):
    id = alerts.set()["id"]
    fire(alerts)
    list_types = send(kit)
    alerts.post(f"{SETS}/{id}/events/{alerts.runs(id)[0]['id']}/undo", 202)
    alerts.work()
    assert list_types() == ["action-run-reverted"]
    (event,) = kit.bodies()
    assert (event["createdBy"], event["data"]["cause"]) == ("admin token", "undo")


@pytest.mark.parametrize(
    ("types", "delivered"),
    [
        (["feature-environment-disabled"], ["feature-environment-disabled"]),
        (["feature-environment-disabled", "action-run-succeeded"], ["action-run-succeeded"]),
        (["feature-environment-disabled", "action-run-failed"], ["feature-environment-disabled"]),
        (["action-run-succeeded"], ["action-run-succeeded"]),
    ],
)
def test_a_change_is_sent_where_the_event_of_its_cause_is_not(kit, alerts, types, delivered):
    alerts.set()
    list_types = send(kit, *types)
    fire(alerts)
    assert list_types() == delivered


def test_a_failed_run_names_what_failed_and_what_changed(kit, alerts):
    alerts.flag("gone")
    alerts.set(acts=[alerts.off(), alerts.off("gone")])
    alerts.web.delete("/api/admin/projects/default/features/gone", headers=ADMIN)
    list_types = send(kit)
    fire(alerts)
    assert list_types() == ["action-run-failed"]
    (event,) = kit.bodies()
    assert event["data"]["reason"] == "gone is archived. Revive it first."
    assert [flag["name"] for flag in event["data"]["flags"]] == ["checkout"]


def test_a_percentage_that_a_run_sets_is_one_message(kit, alerts):
    params = {"environment": "production", "featureName": "checkout", "rollout": 5}
    alerts.set(acts=[{"action": "SET_FEATURE_ROLLOUT", "executionParams": params}])
    list_types = send(kit)
    fire(alerts)
    assert list_types() == ["action-run-succeeded"]
    assert kit.bodies()[0]["data"]["flags"][0]["after"] == "5"
    (change, *_) = list_events(kit, "feature-strategy-update")
    assert change["data"]["cause"]["eventId"] == kit.bodies()[0]["id"]


def test_flags_of_several_environments_pass_every_filter(kit, alerts):
    params = {"environment": "development", "featureName": "checkout"}
    alerts.set(acts=[alerts.off(), {"action": "TOGGLE_FEATURE_ON", "executionParams": params}])
    list_types = send(kit, environments=["development"])
    fire(alerts)
    assert list_types() == ["action-run-succeeded"]
    (event,) = kit.bodies()
    assert (event["environment"], event["featureName"]) == (None, "checkout")
    assert {flag["environment"] for flag in event["data"]["flags"]} == {"production", "development"}


def test_a_set_that_does_not_run_says_so_once_for_each_reason_and_hour(kit, alerts, clock):
    alerts.set(options={"cooldownSeconds": 3000})
    list_types = send(kit)
    fire(alerts)
    assert list_types() == ["action-run-succeeded"]
    for _ in range(3):
        alerts.send({"status": "firing", "title": "x"})
    alerts.work()
    fire(alerts)
    assert list_types() == ["action-run-skipped"]
    (event,) = kit.bodies()
    assert event["data"]["reason"] == "Cooldown: it ran less than 3000 s ago."
    assert event["data"]["flags"] == []
    earlier = "UPDATE action_runs SET created_at = created_at - interval '1 hour' WHERE state = %s"
    alerts.rows(f"{earlier} RETURNING id", "suppressed")
    fire(alerts)
    assert list_types() == ["action-run-skipped"]


def test_a_dry_run_has_no_event(kit, alerts):
    alerts.set(options={"dryRun": True, "cooldownSeconds": 3000})
    list_types = send(kit)
    fire(alerts)
    fire(alerts)
    assert list_types() == []


def test_a_rollback_is_one_message(kit, clock):
    releases = Releases(kit.service, clock)
    list_types = send(kit)
    releases.create(guards=[releases.guard(releases.endpoint())])
    assert "feature-strategy-update" not in list_types()
    releases.signal("firing")
    assert list_types() == ["release-rolled-back"]
    (event,) = kit.bodies()
    assert event["data"]["url"].startswith(f"{URL}/admin/features/")
    (change, *_) = list_events(kit, "feature-strategy-update")
    assert change["data"]["cause"] == {"eventId": event["id"], "type": "release-rolled-back"}


@pytest.mark.parametrize("type", ["safeguard-triggered", "release-guard-fired"])
def test_why_a_release_is_held_is_sent_where_the_decision_is_not(kit, clock, type):
    releases = Releases(kit.service, clock)
    alone, both = send(kit, type), send(kit, type, "release-held")
    releases.create(guards=[releases.guard(releases.endpoint(), effect="hold")])
    releases.signal("firing")
    assert sorted(both()) == sorted([type, "release-held"])
    assert alone() == []


def test_a_run_that_rolls_back_a_release_is_one_message(kit, clock):
    releases = Releases(kit.service, clock)
    endpoint = releases.endpoint()
    releases.create()
    account = {"username": "robot", "name": "Robot", "rootRole": "Editor"}
    params = {"environment": "production", "featureName": "checkout"}
    action_set = {
        "name": "roll back",
        "actorId": kit.call("post", "/api/admin/service-account", account, 201)["id"],
        "match": {"source": "signal-endpoint", "sourceId": endpoint["id"], "payload": {}},
        "actions": [{"action": "ROLL_BACK_RELEASE", "sortOrder": 1, "executionParams": params}],
    }
    kit.call("post", SETS, action_set, 201)
    list_types = send(kit)
    releases.signal("firing")
    assert list_types() == ["action-run-succeeded"]


def test_the_log_waits_for_events_whose_ids_are_reserved(alerts):
    alerts.set()
    alerts.send()
    database = alerts.service.context.database
    with database.transaction() as conn:
        context = alerts.service.context
        context.evaluator.evaluate_batch(conn, context.get_logger("actions"))
    with database.transaction() as conn, database.autocommit() as other:
        assert action_runs.lock_unfinished(conn, since=0, limit=1)
        assert audit_log.list_writers(other)


def test_events_of_runs_are_for_admins(service, web, make):
    alerts = Alerts(service, web, make)
    alerts.set()
    fire(alerts)
    viewer = Cast(service).signed_in("vera")
    types = {event["type"] for event in viewer.get("/api/admin/events").json["events"]}
    assert "feature-environment-disabled" in types
    assert "action-run-succeeded" not in types
    all_events = web.get("/api/admin/events", headers=ADMIN).json["events"]
    assert "action-run-succeeded" in {event["type"] for event in all_events}

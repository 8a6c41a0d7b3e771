"""Releases that are a dry run: they go through their steps, and the flag stays as it is."""

from __future__ import annotations

import json

import pytest

from tests.conftest import ADMIN
from tests.jobs.release_kit import STEPS, Releases


@pytest.fixture
def kit(make_service, clock, receiver):
    service = make_service({"webhooks": {"allowedHosts": ["127.0.0.1"], "allowPrivate": False}})
    return Releases(service, clock)


def read_steps(kit, release):
    """(state, step, the percentage that is, the one that would be)."""
    now = kit.read(release)
    assert now["rollout"] == kit.rollout()
    return now["state"], now["step"], now["rollout"], now["wouldBe"]


def test_a_dry_run_goes_through_its_steps_and_changes_nothing(kit):
    strategy = kit.read_strategy()
    release = kit.create(dryRun=True, watchMinutes=5)
    assert release["dryRun"] is True
    assert read_steps(kit, release) == ("running", 0, 0, 1)
    kit.wait(10)
    assert read_steps(kit, release) == ("running", 1, 0, 50)
    kit.wait(20)
    assert read_steps(kit, release) == ("running", 2, 0, 100)
    kit.wait(5)
    assert read_steps(kit, release) == ("finished", 2, 0, 100)
    assert kit.read_strategy() == strategy
    assert [event["text"] for event in kit.events(release)] == [
        "Created a dry run of a release of checkout in production: 1%, 50%, 100%.",
        "Started the dry run of checkout in production, which would be at 1%.",
        "Would have advanced checkout in production from 1% to 50%; the release is a dry run.",
        "Would have advanced checkout in production from 50% to 100%; the release is a dry run.",
        "Finished the dry run of checkout in production, which would be at 100%.",
    ]


def test_a_guard_that_would_roll_back_ends_a_dry_run_and_notifies(kit, receiver):
    channel = {"type": "webhook", "url": f"{receiver.url}/hook", "on": ["wouldAct", "rolledBack"]}
    guards = [kit.guard(kit.endpoint())]
    release = kit.create(dryRun=True, guards=guards, notifications=[channel])
    kit.signal("firing")
    assert read_steps(kit, release) == ("rolledBack", 0, 0, 0)
    event = kit.events(release)[-1]
    assert event["type"] == "wouldRollBack"
    assert event["text"].startswith(
        "Would have rolled back checkout in production from 1% to 0%; the release is a dry run: "
        "An alert fires at alerts (signal "
    )
    kit.notify()
    (body,) = [json.loads(request.body) for request in receiver.requests]
    assert (body["type"], body["data"]["dryRun"]) == ("release.wouldRollBack", True)
    logged = [event["type"] for event in kit.get("/api/admin/events/checkout")["events"]]
    assert "release-would-roll-back" in logged
    assert "safeguard-triggered" not in logged
    assert kit.command(release, "undo", 409)["message"] == "A dry run has changed nothing."


def test_a_guard_holds_a_dry_run_until_a_person_continues(kit):
    release = kit.create(dryRun=True, guards=[kit.guard(kit.endpoint(), "hold")])
    kit.signal("firing")
    assert kit.state(release) == ("held", "guard", 0)
    assert kit.event_types(release)[-1] == "wouldHold"
    kit.signal("resolved")
    kit.command(release, "resume")
    kit.wait(11)
    assert read_steps(kit, release) == ("running", 1, 0, 50)


def test_a_person_changes_the_flag_during_a_dry_run(kit):
    release = kit.create(dryRun=True)
    kit.edit_strategy(rollout="30", stickiness="random")
    kit.web.post(f"{kit.place}/off", headers=ADMIN)
    kit.wait(10)
    assert read_steps(kit, release) == ("running", 1, 30, 50)
    kit.command(release, "rollback")
    assert read_steps(kit, release) == ("rolledBack", 1, 30, 0)
    assert kit.event_types(release)[-1] == "wouldRollBack"


def test_a_dry_run_starts_when_its_percentage_has_risen_meanwhile(kit):
    year = kit.clock.now().year + 1
    release = kit.create(dryRun=True, startAt=f"{year}-01-01T00:00:00Z")
    kit.edit_strategy(rollout="30")
    kit.command(release, "start")
    assert read_steps(kit, release) == ("running", 0, 30, 1)


def test_a_dry_run_creates_no_strategy(kit):
    kit.web.delete(f"{kit.place}/strategies/{kit.strategy['id']}", headers=ADMIN)
    error = kit.create(400, dryRun=True)
    assert error["details"][0]["path"] == "dryRun"
    assert kit.get(f"{kit.place}/strategies") == []


def test_a_dry_run_whose_strategy_is_deleted_is_stopped(kit):
    release = kit.create(dryRun=True)
    kit.web.delete(f"{kit.place}/strategies/{kit.strategy['id']}", headers=ADMIN)
    kit.progress()
    assert kit.read(release)["state"] == "stopped"


def test_a_step_of_a_dry_run_waits_for_a_person(kit):
    steps = [STEPS[0] | {"waitForPerson": True}, *STEPS[1:]]
    release = kit.create(dryRun=True, steps=steps)
    kit.wait(11)
    assert kit.state(release) == ("held", "step", 0)
    kit.command(release, "advance")
    assert read_steps(kit, release) == ("running", 1, 0, 50)


def test_a_flag_has_one_release_at_a_time_dry_run_or_not(kit):
    kit.create(dryRun=True)
    kit.create(409)


def test_an_action_set_would_roll_back_a_dry_run(kit):
    endpoint = kit.endpoint()
    release = kit.create(dryRun=True)
    account = kit.post("/api/admin/service-account", {"username": "robot", "rootRole": 2}, 201)
    params = {"featureName": "checkout", "environment": "production", "project": "default"}
    action = {"action": "ROLL_BACK_RELEASE", "sortOrder": 1, "executionParams": params}
    body = {"name": "back", "match": {"source": "signal-endpoint", "sourceId": endpoint["id"]}}
    body |= {"actions": [action], "actorId": account["id"], "enabled": True}
    kit.post("/api/admin/projects/default/actions", body, 201)
    kit.signal("firing")
    assert read_steps(kit, release) == ("rolledBack", 0, 0, 0)
    assert kit.event_types(release)[-1] == "wouldRollBack"


def test_an_ended_release_is_dismissed_once_and_a_running_one_is_not(kit):
    release = kit.create()
    kit.command(release, "dismiss", 409)
    kit.command(release, "stop")
    dismissed = kit.command(release, "dismiss")
    assert dismissed["dismissedAt"] is not None
    kit.clock.advance(60)
    assert kit.command(release, "dismiss")["dismissedAt"] == dismissed["dismissedAt"]
    assert kit.event_types(release).count("dismissed") == 1

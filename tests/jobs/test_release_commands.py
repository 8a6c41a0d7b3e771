"""What people may do with a release and when, what each does to its clock, and who is notified."""

from __future__ import annotations

from datetime import timedelta

import pytest

from sigservice.clock import format_iso
from tests.conftest import ADMIN
from tests.jobs.release_kit import Releases

ALL = ["started", "advanced", "held", "resumed", "rolledBack", "finished", "stopped", "wouldAct"]


@pytest.fixture
def kit(service, clock):
    return Releases(service, clock)


def switch(kit, endpoint, state):
    kit.post(f"/api/admin/signal-endpoints/{endpoint['id']}/{state}")
    kit.progress()


def test_start_begins_a_scheduled_release_before_its_time(kit):
    release = kit.create(startAt=format_iso(kit.clock.now() + timedelta(hours=1)))
    kit.command(release, "hold", status=409)
    assert kit.command(release, "start")["state"] == "running"
    assert kit.rollout() == 1
    kit.command(release, "start", status=409)


def test_advance_is_refused_while_a_guard_has_no_data(kit):
    endpoint = kit.endpoint()
    release = kit.create(guards=[kit.guard(endpoint)])
    kit.wait(1)
    switch(kit, endpoint, "off")
    kit.command(release, "advance", status=409)
    switch(kit, endpoint, "on")
    kit.command(release, "advance")


def test_a_release_that_a_person_holds_can_be_advanced(kit):
    release = kit.create()
    kit.command(release, "hold")
    assert kit.command(release, "advance")["state"] == "running"
    assert kit.rollout() == 50


def test_resume_is_refused_while_a_guard_fires(kit):
    release = kit.create(guards=[kit.guard(kit.endpoint(), "hold")])
    kit.signal("firing")
    kit.command(release, "resume", status=409)
    kit.signal("resolved")
    assert kit.command(release, "resume")["state"] == "running"


def test_a_release_goes_on_while_a_guard_fires_once_this_is_a_dry_run(kit):
    guard = kit.guard(kit.endpoint(), "hold")
    release = kit.create(guards=[guard])
    kit.signal("firing")
    error = kit.command(release, "resume", status=409)
    assert error["message"].endswith("To go on, make it a dry run.")
    path = f"{kit.place}/releases/{release['id']}/guards"
    kit.put(path, {"guards": [guard | {"dryRun": True}]})
    edit = next(event for event in kit.events(release) if event["type"] == "guardsEdited")
    assert edit["reason"].endswith("from off to on")
    assert kit.command(release, "resume")["state"] == "running"
    kit.wait(10)
    assert kit.state(release) == ("running", None, 50)


def test_a_held_release_keeps_the_clock_of_its_step(kit):
    release = kit.create(guards=[kit.guard(kit.endpoint())])
    kit.wait(2)
    kit.command(release, "hold")
    kit.wait(6)
    assert kit.command(release, "resume")["dueAt"] == release["dueAt"]
    kit.wait(2)
    assert kit.rollout() == 50


def test_resuming_after_the_time_of_a_step_needs_new_evidence(kit):
    release = kit.create(guards=[kit.guard(kit.endpoint())])
    kit.command(release, "hold")
    kit.wait(20)
    kit.command(release, "resume")
    kit.progress()
    assert kit.rollout() == 1
    kit.wait(0.5)
    assert kit.rollout() == 50


def test_an_edit_comes_before_a_guard_that_holds(kit):
    release = kit.create(guards=[kit.guard(kit.endpoint(), "hold")])
    kit.edit_strategy(rollout="7")
    kit.signal("firing")
    assert kit.state(release) == ("held", "edit", 7)


def test_a_stop_leaves_a_strategy_that_the_release_created_as_it_is(kit):
    kit.web.delete(f"{kit.place}/strategies/{kit.strategy['id']}", headers=ADMIN)
    release = kit.create()
    kit.command(release, "stop")
    (strategy,) = kit.get(f"{kit.place}/strategies")
    assert strategy["parameters"]["rollout"] == "1"


def test_after_its_last_step_a_release_is_watched_until_it_is_finished(kit):
    release = kit.create(steps=[{"rollout": 100}], watchMinutes=10)
    assert (release["state"], release["dueAt"]) == ("running", None)
    assert release["watchUntil"] == format_iso(kit.clock.now() + timedelta(minutes=10))
    kit.wait(10)
    assert kit.read(release)["state"] == "finished"

"""The emergency: roll back, undo, freeze and pause."""

from __future__ import annotations

import pytest

from tests.conftest import ADMIN
from tests.jobs.release_kit import Releases

PATH = "/api/admin/emergency"
REASON = {"reason": "checkout is down"}


@pytest.fixture
def kit(service, clock):
    return Releases(service, clock)


def list_types(kit):
    return [event["type"] for event in kit.get("/api/admin/events")["events"]]


def test_a_dry_run_lists_each_release_and_changes_nothing(kit):
    release = kit.create()
    kit.command(release, "advance")
    body = kit.post(PATH, REASON | {"rollBackReleases": True, "dryRun": True})
    (change,) = body["changes"]
    assert change == {
        "feature": "checkout",
        "project": "default",
        "environment": "production",
        "from": {"enabled": True, "rollout": 50},
        "to": {"enabled": True, "rollout": 0},
        "releaseId": release["id"],
        "runId": None,
        "changed": True,
        "reason": None,
    }
    assert (body["frozen"], body["paused"], body["endsAt"]) == (None, None, None)
    assert kit.state(release)[0] == "running"
    assert "emergency-started" not in list_types(kit)


def test_releases_roll_back_and_a_repeat_changes_nothing(kit):
    release = kit.create()
    kit.post(PATH, REASON | {"rollBackReleases": True})
    assert kit.state(release)[0] == "rolledBack"
    assert kit.post(PATH, REASON | {"rollBackReleases": True})["changes"] == []
    assert list_types(kit).count("emergency-started") == 1


def test_a_freeze_ends_after_its_time_with_an_event(kit):
    body = kit.post(PATH, REASON | {"freezeReleases": True, "endsAfterMinutes": 60})
    assert body["frozen"]["reason"] == "checkout is down"
    assert body["endsAt"] == body["frozen"]["endsAt"]
    kit.wait(61)
    assert kit.get(PATH) == {"frozen": None, "paused": None}
    assert list_types(kit)[0] == "emergency-ended"


def test_only_admins_freeze_and_pause(kit, cast):
    ed = cast.signed_in("ed")
    headers = {"X-CSRF-Token": ed.csrf}
    for name in ("freezeReleases", "pauseAutomation"):
        answer = ed.post_json(PATH, REASON | {name: True}, headers=headers, status=403)
        assert name in answer.text
    ed.post_json(PATH, REASON | {"rollBackReleases": True}, headers=headers, status=200)
    ed.delete(f"{PATH}?what=freeze", headers=headers, status=403)
    vera = cast.signed_in("vera")
    assert vera.get(PATH).json == {"frozen": None, "paused": None}
    vera.post_json(PATH, REASON, headers={"X-CSRF-Token": vera.csrf}, status=403)


def test_what_is_missing_or_out_of_range_is_an_error(kit):
    for body in (
        {"rollBackReleases": True},
        REASON,
        REASON | {"undoMinutes": -1},
        REASON | {"freezeReleases": True, "endsAfterMinutes": 0},
        REASON | {"undo": True},
    ):
        kit.web.post_json(PATH, body, headers=ADMIN, status=400)
    kit.web.delete(f"{PATH}?what=x", headers=ADMIN, status=400)


def test_frozen_releases_are_named_on_each_page(kit, cast):
    kit.post(PATH, {"reason": "<b>down", "freezeReleases": True})
    page = cast.signed_in("vera").get("/admin/features")
    assert "Releases are frozen by" in page.text
    assert "&lt;b&gt;down" in page.text
    assert "End it" not in page.text
    kit.delete(f"{PATH}?what=freeze")
    assert "Releases are frozen" not in cast.signed_in("vera").get("/admin/features").text


def test_the_page_lists_before_it_acts(kit, cast):
    release, ed = kit.create(), cast.signed_in("ed")
    form = ed.get("/admin/emergency").forms["emergency"]
    assert "freezeReleases" not in form.fields
    form["reason"] = "down"
    page = form.submit("do", value="act", status=303).follow()
    assert "Done: 1 release rolled back." in page.text
    assert kit.state(release)[0] == "rolledBack"


def test_a_list_that_has_changed_is_shown_again(kit, cast):
    first, ed = kit.create(), cast.signed_in("ed")
    form = ed.get("/admin/emergency").forms["emergency"]
    form["reason"] = "down"
    kit.command(first, "advance")
    page = form.submit("do", value="act", status=409)
    assert "The list has changed." in page.text
    assert kit.state(first)[0] == "running"
    page.forms["emergency"].submit("do", value="act", status=303)
    assert kit.state(first)[0] == "rolledBack"


def test_a_reason_is_required(kit, cast):
    ed = cast.signed_in("ed")
    ed.get("/admin/emergency").forms["emergency"].submit("do", value="act", status=400)


def test_an_admin_ends_the_freeze_after_a_question(kit, cast):
    kit.post(PATH, REASON | {"freezeReleases": True, "endsAfterMinutes": 5})
    ada = cast.signed_in("ada")
    question = ada.get("/admin/emergency/end?what=freeze")
    question.forms["question-form"].submit(status=303)
    assert kit.get(PATH)["frozen"] is None

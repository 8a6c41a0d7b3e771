"""A release with pages alone: the form, the panel, the commands, the list and the home page."""

from __future__ import annotations

import pytest

from tests.conftest import Cast
from tests.jobs.release_kit import Releases

PLACE = "/admin/features/checkout/environments/production/releases"


@pytest.fixture
def kit(service, clock):
    return Releases(service, clock)


@pytest.fixture
def ed(kit, cast: Cast):
    return cast.signed_in("ed")


def start(kit, ed, **texts):
    form = ed.get(f"{PLACE}/new").forms["editor"]
    form["template"] = "careful"
    for name, text in texts.items():
        form[name] = text
    return form.submit().follow()


def press(page, label, path):
    """The link of a command, and the button of its question."""
    question = page.click(label, href=path)
    return question.forms[len(question.forms) - 1].submit().follow()


def test_a_release_is_started_held_continued_and_rolled_back(kit, ed):
    page = start(kit, ed)
    assert "Release created." in page
    assert "running at 1%" in page.text
    page = press(page, "Hold", "hold")
    assert "on hold at 1%" in page.text
    assert "Held by ed." in page.text
    page = press(page, "Continue", "resume")
    page = press(page, "Next step", "advance")
    assert kit.rollout() == 10
    page = press(page, "Roll back", "rollback")
    assert "Rolled back checkout in production from 10% to 0%." in page.text
    assert kit.rollout() == 0
    page = press(page, "Undo the rollback", "undo")
    assert kit.rollout() == 10


def test_a_page_says_why_a_release_rolled_back(kit, ed):
    endpoint = kit.endpoint("alertmanager", template="alertmanager")
    form = ed.get(f"{PLACE}/new").forms["editor"]
    form = form.submit("do", value="add-guards").forms["editor"]
    form["template"] = "careful"
    form["guards.0.endpointId"] = str(endpoint["id"])
    form.submit().follow()
    kit.signal("firing")
    page = ed.get("/admin/features/checkout")
    assert "rolled back at 0%" in page.text
    assert "An alert fires at alertmanager" in page.text


def test_a_replay_shows_what_would_have_happened_and_keeps_the_form(kit, ed):
    endpoint = kit.endpoint("alertmanager", template="alertmanager")
    kit.signal("firing")
    kit.signal("resolved")
    form = ed.get(f"{PLACE}/new").forms["editor"]
    form = form.submit("do", value="add-guards").forms["editor"]
    form["guards.0.endpointId"] = str(endpoint["id"])
    page = form.submit("do", value="replay")
    assert "Broken at 1 of 2 points." in " ".join(page.text.split())
    assert page.forms["editor"]["guards.0.endpointId"].value == str(endpoint["id"])
    assert kit.rollout() == 0


def test_a_wrong_step_is_marked(kit, ed):
    form = ed.get(f"{PLACE}/new").forms["editor"]
    form["steps.1.rollout"] = "1"
    page = form.submit(status=400)
    assert "Step 2 must be higher than step 1 (1%)." in page.text
    assert kit.rollout() == 0


def test_an_edit_offers_both_ways_to_go_on(kit, ed):
    page = start(kit, ed)
    kit.edit_strategy(rollout="30")
    kit.progress()
    page = ed.get(page.request.path)
    assert "Restore the percentage of the step" in page.text
    press(page, "Continue from the new percentage", "adopt")
    assert kit.rollout() == 30


def test_a_question_of_an_earlier_step_changes_nothing(kit, ed):
    page = start(kit, ed)
    question = page.click("Next step", href="advance")
    kit.wait(10)
    assert kit.rollout() == 10
    answer = question.forms[len(question.forms) - 1].submit(status=409)
    assert "The present step is 1, not 0." in answer.text
    assert kit.rollout() == 10


def test_lists_show_what_is_under_way(kit, ed):
    assert "No releases." in ed.get("/admin/releases").text
    page = press(start(kit, ed), "Hold", "hold")
    assert "on hold at 1%" in ed.get("/admin/releases").text
    assert "on hold at 1%" in ed.get("/").text
    press(page, "Stop", "stop")
    assert "stopped at 1%" in ed.get("/admin/releases").text
    assert "Releases under way" not in ed.get("/").text


def test_a_freeze_is_shown_and_viewers_have_no_commands(kit, ed, cast):
    page = start(kit, ed)
    kit.put("/api/admin/releases/freeze", {"frozen": True, "reason": "incident"})
    vera = cast.signed_in("vera")
    answer = vera.get(page.request.path)
    assert "Releases are frozen" in answer.text
    assert "Roll back" not in answer.text
    vera.get(f"{PLACE}/new", status=403)

"""A release with pages alone: the form, the panel, the commands, the list and the home page."""

from __future__ import annotations

import re

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


def ask(page, command):
    """The form of the question before a command."""
    question = page.click(href=f"/{command}([?]|$)")
    return question.forms["question-form"]


def press(page, command):
    """The button of a command, or its link and the button of its question."""
    forms = [form for form in page.forms.values() if form.action.endswith(f"/{command}")]
    return (forms[0] if forms else ask(page, command)).submit().follow()


def test_a_release_is_started_held_continued_and_rolled_back(kit, ed):
    page = start(kit, ed)
    assert "Release created." in page
    assert "running at 1%" in page.text
    page = press(page, "hold")
    assert "on hold at 1%" in page.text
    assert "Held by ed." in page.text
    page = press(page, "resume")
    page = press(page, "advance")
    assert kit.rollout() == 10
    page = press(page, "rollback")
    assert "Rolled back checkout in production from 10% to 0%." in page.text
    assert kit.rollout() == 0
    page = press(page, "undo")
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
    assert "Restore 1% …" in page.text
    press(page, "adopt")
    assert kit.rollout() == 30


def test_a_question_of_an_earlier_step_changes_nothing(kit, ed):
    page = start(kit, ed)
    question = page.click(href="/advance")
    kit.wait(10)
    assert kit.rollout() == 10
    answer = question.forms["question-form"].submit(status=409)
    assert "The present step is 1, not 0." in answer.text
    assert kit.rollout() == 10


def test_lists_show_what_is_under_way(kit, ed):
    assert "No releases." in ed.get("/admin/releases").text
    page = press(start(kit, ed), "hold")
    assert "on hold at 1%" in ed.get("/admin/releases").text
    assert "on hold at 1%" in ed.get("/").text
    press(page, "stop")
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


def test_the_page_of_a_flag_shows_the_steps_and_what_comes_next(kit, ed):
    start(kit, ed)
    page = ed.get("/admin/features/checkout")
    present = page.html.select_one("ol.track [aria-current=step]").get_text(" ", strip=True)
    assert present == "▶ 1% , running, 0 s of 10 min"
    kit.jump(4)
    page = ed.get("/admin/features/checkout")
    assert "4 min of 10 min" in page.text
    assert "Next: 10% in 6 min." in page.html.select_one(".release").text


def test_the_strategy_that_a_release_moves_leads_to_the_release(kit, ed):
    start(kit, ed)
    page = ed.get("/admin/features/checkout")
    link = page.html.find("a", string=re.compile("^moved by release"))
    assert link["href"].startswith(f"{PLACE}/")
    form = f"{PLACE.removesuffix('releases')}strategies/{kit.strategy['id']}"
    assert "moves this percentage." in ed.get(form).text
    press(page, "hold")
    assert "moves this percentage." not in ed.get(form).text


def test_commands_return_to_the_page_that_asked(kit, ed):
    start(kit, ed)
    page = press(ed.get("/admin/features/checkout"), "hold")
    assert page.request.path == "/admin/features/checkout"
    assert "Release held." in page
    page = press(page, "rollback")
    assert page.request.path == "/admin/features/checkout"
    assert "0% of users" in page.text


def test_a_rollback_says_its_percentages_first(kit, ed):
    page = start(kit, ed).click(href="/rollback")
    assert "Roll back to 0% of users?" in page
    assert "checkout in production goes from 1% to 0% at once." in page


def test_a_next_step_says_what_it_skips_first(kit, ed):
    page = start(kit, ed)
    kit.jump(4)
    page = page.click(href="/advance")
    assert "Go to 10% now?" in page
    assert "Step 1 has run 4 min of 10 min. Guards are ok." in page


def test_a_broken_guard_is_ignored_for_minutes_that_a_person_enters_with_a_reason(kit, ed):
    release = kit.create(guards=[kit.guard(kit.endpoint(), "hold")])
    kit.signal("firing")
    page = ed.get(f"{PLACE}/{release['id']}")
    assert "Guard broken: An alert fires at alerts" in page
    assert "Nothing changes until someone decides." in page
    form = ask(page, "ignore")
    form["ignoreMinutes"], form["reason"] = "0", "SHOP-1501"
    answer = form.submit(status=400)
    assert "Must be 1 to 1440 minutes." in answer
    assert answer.forms["question-form"]["reason"].value == "SHOP-1501"
    answer.forms["question-form"]["ignoreMinutes"] = "20"
    page = answer.forms["question-form"].submit().follow()
    assert (
        "A guard is ignored until it is ok, for at most 20 min."
        in page.html.select_one(".release").text
    )
    assert "not ok are ignored for 20 minutes: SHOP-1501" in kit.events(release)[-1]["text"]
    assert kit.state(release)[0] == "running"


def test_a_release_that_ended_long_ago_leaves_the_page_of_its_flag(kit, ed, cast):
    press(start(kit, ed), "stop")
    assert "stopped at 1%" in ed.get("/admin/features/checkout")
    kit.jump(15 * 24 * 60)
    page = cast.signed_in("ed").get("/admin/features/checkout")
    assert "stopped at 1%" not in page
    assert "while you raise 1% to 100%" in page

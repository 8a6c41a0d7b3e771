"""Releases with JavaScript: questions are dialogs, and a live panel announces changes."""

from __future__ import annotations

import pytest

from tests.jobs.release_kit import Releases

pytestmark = pytest.mark.browser
FLAG = "/admin/features/checkout"


@pytest.fixture
def kit(service):
    return Releases(service, service.context.clock)


def test_a_rollback_is_asked_in_a_dialog_whose_focus_is_on_cancel(tab, kit):
    kit.create()
    page = tab("ada")
    page.goto(FLAG)
    page.get_by_role("link", name="Roll back to 0%").press("Enter")
    dialog = page.get_by_role("dialog", name="Roll back to 0% of users?")
    dialog.wait_for()
    assert page.evaluate("document.activeElement.textContent") == "Cancel"
    page.keyboard.press("Enter")
    dialog.wait_for(state="hidden")
    assert kit.rollout() == 1
    page.get_by_role("link", name="Roll back to 0%").click()
    dialog.get_by_label("Why?").fill("too slow")
    dialog.get_by_role("button", name="Roll back").click()
    page.get_by_text("1% → 0% of users.").wait_for()
    assert page.url.split("#")[0].endswith(FLAG)
    assert kit.rollout() == 0
    assert page.complaints == []


def test_a_live_panel_announces_a_new_state_and_keeps_the_focus(tab, kit):
    release = kit.create()
    page = tab("ada")
    page.goto(FLAG)
    page.get_by_role("link", name="Roll back to 0%").focus()
    kit.command(release, "hold")
    page.locator("#toast", has_text="on hold at 1%").wait_for()
    page.get_by_text("Nothing changes until someone decides.").wait_for()
    assert page.evaluate("document.activeElement.textContent").startswith("Roll back to 0%")
    assert page.complaints == []


def test_the_focus_goes_back_to_a_live_panel_when_a_dialog_is_closed(tab, kit):
    kit.create()
    page = tab("ada")
    page.clock.install()
    page.goto(FLAG)
    page.get_by_role("link", name="Roll back to 0%").press("Enter")
    dialog = page.get_by_role("dialog", name="Roll back to 0% of users?")
    dialog.wait_for()
    requests = []
    page.on("request", lambda request: requests.append(request.url))
    page.clock.run_for(11_000)
    page.keyboard.press("Escape")
    dialog.wait_for(state="hidden")
    assert requests == []
    assert page.evaluate("document.activeElement.textContent").startswith("Roll back to 0%")
    with page.expect_response(lambda response: response.url.endswith(FLAG)):
        page.clock.run_for(6_000)
    assert page.complaints == []


def test_the_errors_of_a_preview_are_in_view_and_have_the_focus(tab, kit):
    page = tab("ada", viewport={"width": 1280, "height": 700})
    page.goto(f"{FLAG}/environments/production/releases/new")
    page.locator("[id='steps.1.rollout']").fill("1")
    page.get_by_role("button", name="Preview").click()
    alert = page.get_by_role("alert")
    alert.wait_for()
    assert alert.evaluate("(e) => e === document.activeElement")
    assert 0 < alert.bounding_box()["y"] < 700
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.url.endswith("#steps.1.rollout")
    assert page.complaints == []


def test_the_releases_of_a_project_go_with_the_last_one(tab, kit):
    release = kit.create()
    page = tab("ada")
    page.clock.install()
    page.goto("/admin/projects/default/overview")
    page.locator("#releases", has_text="running").wait_for()
    kit.command(release, "stop")
    page.clock.run_for(6_000)
    page.locator("#releases").wait_for(state="detached", timeout=5000)
    assert page.complaints == []


def test_a_form_of_a_release_grows_and_shows_a_preview_without_loading_the_page(tab, kit):
    kit.endpoint("alertmanager", template="alertmanager")
    page = tab("ada")
    page.goto(f"{FLAG}/environments/production/releases/new")
    page.get_by_role("button", name="quarters").click()
    page.locator("[id='steps.0.rollout'][value='25']").wait_for()
    page.get_by_role("button", name="Silence of an endpoint").click()
    page.get_by_text("Guard 1 · Silence of an endpoint").wait_for()
    page.locator("[id='guards.0.rule.source.everySeconds']").fill("3600")
    page.get_by_role("button", name="Preview").click()
    page.get_by_role("heading", name="The last 48 h").wait_for()
    page.get_by_role("button", name="Start release").click()
    page.get_by_text("Release created.").wait_for()
    assert kit.rollout() == 25
    assert page.complaints == []


def test_the_labels_of_an_axis_are_on_their_lines(tab, kit):
    release = kit.create()
    page = tab("ada")
    page.goto(f"{FLAG}/environments/production/releases/{release['id']}")
    find_middles = """() => [...document.querySelectorAll(".chart .axis:first-child span")].map(
        label => { const box = label.getBoundingClientRect(); return box.top + box.height / 2; })"""
    top, bottom = page.evaluate(find_middles)
    line = page.locator(".chart svg > line").first.bounding_box()
    assert abs(line["y"] - bottom) <= 1
    assert abs(line["y"] - 100 - top) <= 1
    assert page.complaints == []


def test_a_message_leaves_the_address_and_the_filters_stay(tab, kit):
    kit.create()
    page = tab("ada")
    page.goto("/admin/releases?flag=check")
    page.get_by_role("button", name="Hold").click()
    page.get_by_text("Release held.").wait_for()
    assert page.url.split("?")[1] == "state=active&flag=check"
    page.goto("/admin/features?type=release&done=bulk&done.change=archive&done.archived=a,b")
    page.get_by_text("1 flag archived.").wait_for()
    assert page.url.split("?")[1] == "type=release"

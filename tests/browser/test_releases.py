"""Releases with JavaScript: questions are dialogs, and a live panel announces changes."""

from __future__ import annotations

from itertools import pairwise

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
    page.get_by_role("link", name="Roll back …").press("Enter")
    dialog = page.get_by_role("dialog", name="Roll back to 0% of users?")
    dialog.wait_for()
    assert page.evaluate("document.activeElement.textContent") == "Cancel"
    page.keyboard.press("Enter")
    dialog.wait_for(state="hidden")
    assert kit.rollout() == 1
    page.get_by_role("link", name="Roll back …").click()
    dialog.get_by_label("Why?").fill("too slow")
    dialog.get_by_role("button", name="Roll back").click()
    page.get_by_text("1% → 0%").first.wait_for()
    assert page.url.split("?")[0].endswith(FLAG)
    assert kit.rollout() == 0
    assert page.complaints == []


def test_a_live_panel_announces_a_new_state_and_keeps_the_focus(tab, kit):
    release = kit.create()
    page = tab("ada")
    page.goto(FLAG)
    page.get_by_role("link", name="Roll back …").focus()
    kit.command(release, "hold")
    page.locator("#toast", has_text="on hold at 1%").wait_for()
    page.get_by_text("On hold at 1%").first.wait_for()
    assert page.evaluate("document.activeElement.textContent").startswith("Roll back …")
    assert page.complaints == []


def test_the_focus_goes_back_to_a_live_panel_when_a_dialog_is_closed(tab, kit):
    kit.create()
    page = tab("ada")
    page.clock.install()
    page.goto(FLAG)
    page.get_by_role("link", name="Roll back …").press("Enter")
    dialog = page.get_by_role("dialog", name="Roll back to 0% of users?")
    dialog.wait_for()
    requests = []
    page.on("request", lambda request: requests.append(request.url))
    page.clock.run_for(11_000)
    page.keyboard.press("Escape")
    dialog.wait_for(state="hidden")
    assert requests == []
    assert page.evaluate("document.activeElement.textContent").startswith("Roll back …")
    with page.expect_response(lambda response: response.url.endswith(FLAG)):
        page.clock.run_for(6_000)
    assert page.complaints == []


def test_the_errors_of_a_preview_are_in_view_and_have_the_focus(tab, kit):
    page = tab("ada", viewport={"width": 1280, "height": 700})
    page.goto(f"{FLAG}/environments/production/releases/new")
    page.locator("#steps").fill("x")
    page.get_by_role("button", name="Preview").click()
    alert = page.get_by_role("alert")
    alert.wait_for()
    assert alert.evaluate("(e) => e === document.activeElement")
    assert 0 < alert.bounding_box()["y"] < 700
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.url.endswith("#steps")
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


def test_a_form_of_a_release_shows_a_preview_without_loading_the_page(tab, kit):
    kit.command(kit.create(guards=[kit.guard(kit.endpoint())]), "rollback")
    page = tab("ada")
    page.goto(f"{FLAG}/environments/production/releases/new")
    page.get_by_role("button", name="Quarters").click()
    page.locator("#steps[value^='25% for 1 h']").wait_for()
    page.get_by_role("button", name="Preview").click()
    page.get_by_text("would have broken 0 times").wait_for()
    page.get_by_role("button", name="Start release").click()
    page.get_by_text("Release created.").wait_for()
    assert kit.rollout() == 25
    assert page.complaints == []


def test_a_form_of_a_release_has_twelve_controls_and_800_pixels(tab, kit):
    endpoint = kit.endpoint()
    kit.command(kit.create(guards=[kit.guard(endpoint)] * 3), "stop")
    source = {"kind": "impactMetric", "metric": "errors", "measure": "rate"}
    for limit, name in enumerate(("a-rule", "b-rule", "c-rule", "d-rule")):
        rule = {"name": name, "endpointId": endpoint["id"], "above": limit}
        rule |= {"source": source | {"environment": "production"}}
        kit.post("/api/admin/alert-rules", rule, 201)
    kit.post(f"{kit.place}/off")
    page = tab("ada", viewport={"width": 1280, "height": 900})
    page.goto(f"{FLAG}/environments/production/releases/new")
    controls = page.locator("main :is(input, select, textarea, button):visible")
    names = controls.evaluate_all("all => all.filter(e => e.tabIndex >= 0).map(e => e.name)")
    assert len(names) <= 12, names
    form = page.locator("#editor").bounding_box()
    assert form["y"] + form["height"] <= 800
    assert page.complaints == []


def test_a_release_is_one_page_with_one_axis_whose_levels_are_apart(tab, kit):
    release = kit.create(guards=[kit.guard(kit.endpoint())])
    page = tab("ada")
    page.goto(f"{FLAG}/environments/production/releases/{release['id']}")
    assert page.locator("main svg").count() == 1
    assert page.locator("main nav.tabs").count() == 0
    levels = page.locator(".recorder text").evaluate_all(
        "texts => texts.map(text => text.getBoundingClientRect().top)"
    )
    assert all(below - above >= 20 for above, below in pairwise(levels))
    assert page.complaints == []


def test_rows_of_releases_have_36_pixels_and_causes_320(tab, kit):
    kit.command(kit.create(), "rollback", reason="too slow")
    page = tab("ada")
    page.goto("/admin/releases?state=ended")
    assert page.locator("tbody tr").first.bounding_box()["height"] <= 37
    assert page.locator("tbody .reason").first.bounding_box()["width"] >= 320
    kit.create()
    page.goto("/admin/releases")
    assert page.locator("tbody tr").first.bounding_box()["height"] <= 37
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

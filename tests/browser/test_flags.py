"""Flags by keyboard alone, and without JavaScript."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.browser


def test_strategy_is_added_by_keyboard_without_javascript(tab, flags):
    flags.create_flag("checkout")
    page = tab("ada", java_script_enabled=False, viewport={"width": 360, "height": 740})
    page.goto("/admin/features/checkout")
    page.get_by_role("link", name="Add strategy in production").press("Enter")
    page.get_by_role("button", name="Add constraint").press("Enter")
    page.get_by_label("Context field").wait_for()
    assert page.url.endswith("#constraints.0")
    page.keyboard.press("Tab")  # from the anchor of the new fields
    page.keyboard.type("country")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.type("DE")
    page.keyboard.press("Enter")
    page.keyboard.type("FR")
    page.get_by_role("button", name="Add variant").press("Enter")
    page.get_by_label("Name", exact=True).wait_for()
    page.keyboard.press("Tab")
    page.keyboard.type("a")
    page.get_by_label("Rollout percentage").fill("50")
    page.get_by_label("Title").press("Enter")  # saves, and presses no button that removes
    page.get_by_role("status").wait_for()
    strategy = page.locator("#in-production .strategy .summary")
    assert strategy.locator("bdi").all_inner_texts() == [
        "50% of users with country is one of DE, FR",
        "100% a",
    ]
    assert page.complaints == []


def test_flag_is_switched_in_the_list_by_keyboard_without_javascript(tab, flags):
    flags.create_flag("checkout")
    flags.create_flag("other")
    page = tab("ada", java_script_enabled=False)
    page.goto("/admin/features?query=check")
    for state in ("on", "off"):
        page.get_by_role("switch", name="checkout in production").press("Space")
        page.get_by_role("button", name=f"Turn {state} in production").press("Enter")
        page.get_by_role("status").wait_for()
        page.get_by_role("switch", name="checkout in production", checked=state == "on").wait_for()
        assert "query=check" in page.url
        assert page.get_by_role("switch").count() == 3
        assert flags.is_on() is (state == "on")

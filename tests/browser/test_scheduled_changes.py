"""Changes at a time, with JavaScript: the question is a dialog, times are in the reader's zone."""

from __future__ import annotations

import pytest

from tests.conftest import ADMIN

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("width", [1280, 375])
def test_a_switch_in_production_is_planned_in_a_dialog(tab, flags, web, width, expect):
    account = {"username": "robot", "name": "Robot", "rootRole": "Editor"}
    web.post_json("/api/admin/service-account", account, headers=ADMIN, status=201)
    flags.create_flag("checkout")
    page = tab("ada", viewport={"width": width, "height": 900}, timezone_id="America/New_York")
    page.goto("/admin/features/checkout")
    page.get_by_role("switch", name="checkout in production").click()
    dialog = page.get_by_role("dialog", name="Turn on checkout in production?")
    dialog.wait_for()
    expect(dialog).to_contain_text("Everyone gets it at once: it has no active strategy.")
    dialog.get_by_role("link", name="At a time …").click()
    page.get_by_label("Time", exact=True).fill("2999-12-01T09:00")
    page.get_by_label("Time zone").fill("Europe/Berlin")
    page.get_by_label("Why?").fill("SHOP-7")
    page.get_by_role("button", name="Schedule change").click()
    time = page.locator("#in-production .scheduled time")
    expect(time).to_have_text("1 Dec 2999")
    assert time.get_attribute("title").startswith("1 Dec 2999, 03:00")
    overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(overflow) == 0
    page.get_by_role("switch", name="checkout in production").click()  # now, without a time
    dialog.get_by_role("button", name="Turn on in production").click()
    expect(page.locator("#toast")).to_contain_text("Enabled checkout in production.")
    page.get_by_role("button", name="Do it now").click()
    expect(page.locator("#notice")).to_contain_text("The change runs now.")
    assert page.complaints == []

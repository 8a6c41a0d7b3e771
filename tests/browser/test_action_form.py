"""The form of an action set: its height, the preview that follows the filters, and its test."""

from __future__ import annotations

import pytest

from tests.pages.actions import Actions

pytestmark = pytest.mark.browser
FILTERS = [
    {"path": "status", "operator": "IN", "values": ["firing"]},
    {"path": "commonLabels.service", "operator": "IN", "values": ["checkout"]},
]


@pytest.fixture
def form(tab, service, web, flags, make, call):
    """The page of a set with two filters whose endpoint has three signals."""
    endpoint = make.endpoint()
    token = make.token(endpoint)
    sets = Actions(service, web, flags, endpoint)
    id = sets.set(filters=FILTERS)
    for service_name in ("checkout", "search", "checkout"):
        labels = {"alertname": "Errors", "service": service_name}
        payload = {"status": "firing", "commonLabels": labels}
        assert call(endpoint["name"], token["token"], payload) == 200
    page = tab("ada", viewport={"width": 1280, "height": 900})
    page.goto(f"/admin/projects/default/actions/{id}")
    return page


def test_the_form_is_at_most_one_and_a_half_screens_tall(form):
    height = form.locator("#editor").evaluate("form => form.getBoundingClientRect().bottom")
    assert height <= 1350


def test_the_replay_follows_a_filter_without_a_reload(form):
    preview = form.locator("#preview")
    assert "2 match" in preview.text_content()
    form.get_by_label("Description").fill("not saved yet")
    values = form.locator("[id='filters.1.values']")
    values.fill("search")
    form.keyboard.press("Tab")
    form.get_by_text("Of the last 3 signals, 1 match").wait_for()
    assert values.input_value() == "search"
    assert form.get_by_label("Description").input_value() == "not saved yet"
    assert form.complaints == []


def test_a_test_without_a_signal_keeps_what_is_typed(tab, service, web, flags, make):
    id = Actions(service, web, flags, make.endpoint()).set()
    page = tab("ada")
    page.goto(f"/admin/projects/default/actions/{id}")
    page.get_by_label("Description").fill("not saved yet")
    page.get_by_role("button", name="Run test").click()
    page.locator("#result").get_by_text("No signal received yet. Enter a payload.").wait_for()
    assert page.get_by_label("Description").input_value() == "not saved yet"
    assert page.complaints == []

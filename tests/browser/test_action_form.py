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


def test_the_form_has_eighteen_controls_and_700_pixels(form):
    form.goto("/admin/automation/new?flag=checkout")
    form.get_by_role("button", name="service checkout").click()
    form.locator("[id='filters.0.path'][value=service]").wait_for()
    controls = form.locator("#editor :is(input, select, textarea, button):visible")
    names = controls.evaluate_all("all => all.filter(e => e.tabIndex >= 0).map(e => e.name)")
    assert len(names) <= 18, names
    height = form.locator("#editor").evaluate("form => form.getBoundingClientRect().bottom")
    assert height <= 700


def test_the_replay_follows_a_filter_without_a_reload(form):
    preview = form.locator("#preview")
    assert "acted 2 times" in preview.text_content()
    form.locator("#more summary").click()
    form.get_by_label("Description").fill("not saved yet")
    values = form.locator("[id='filters.1.values']")
    values.fill("search")
    form.keyboard.press("Tab")
    form.get_by_text("would have acted 1 time").wait_for()
    assert values.input_value() == "search"
    assert form.get_by_label("Description").input_value() == "not saved yet"
    assert form.complaints == []

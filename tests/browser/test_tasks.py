"""Ten tasks that users do daily, with the clicks and page loads that they take.

Clicks on links, buttons and summaries are counted, filling in fields isn't.
"""

from __future__ import annotations

import re

import pytest

from tests.pages.actions import Actions
from tests.waiting import until

pytestmark = pytest.mark.browser
FLAG = "/admin/features/checkout"
REVERTS = {"restoreWhenResolved": {"path": "status", "values": ["resolved"], "key": "groupKey"}}
ALERT = {"status": "firing", "groupKey": "a", "commonLabels": {"alertname": "CheckoutErrors"}}


class Task:
    """A page that counts. `click` takes what `page.get_by_role` takes."""

    def __init__(self, page):
        self.page, self.clicks, self.loads = page, 0, 0

    def start(self, path):
        self.page.goto(path)
        self.page.on("load", lambda _: self._count_load())
        return self

    def click(self, role, name, within="body", exact=True):
        place = self.page.locator(within)
        place.get_by_role(role, name=name, exact=exact).first.click()
        self.clicks += 1

    def fill(self, label, text):
        self.page.get_by_label(label, exact=True).fill(text)

    def see(self, text):
        self.page.get_by_text(text).first.wait_for()

    def costs(self):
        self.page.wait_for_load_state()  # what is awaited may be shown before
        assert self.page.complaints == []
        return self.clicks, self.loads

    def _count_load(self):
        self.loads += 1


@pytest.fixture
def task(tab):
    return Task(tab("ada", viewport={"width": 1280, "height": 900}))


@pytest.fixture
def incident(service, web, flags, make, call):
    """An alert has disabled checkout in production; returns the endpoint."""
    endpoint = make.endpoint("alertmanager")
    sets = Actions(service, web, flags, endpoint)
    flags.add_strategy("checkout", parameters={"rollout": "25", "groupId": "checkout"})
    sets.set(options=REVERTS)
    assert call("alertmanager", make.token(endpoint)["token"], ALERT) == 200
    until(lambda: not flags.is_on(), "the flag is off")
    return endpoint


def test_a_configuration_of_a_sender_is_copied_intact(task, make, service):
    page = task.page
    id = make.endpoint("alerts", template="alertmanager")["id"]
    task.start(f"/admin/signals/{id}/setup")
    page.evaluate("addEventListener('copy', () => { window.copied = String(getSelection()) })")
    page.evaluate("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
    task.click("button", "Copy setup")
    task.see("Copied")
    copied = page.evaluate("window.copied")
    assert copied == page.locator("#setup").text_content()
    assert re.search(r"^ {2,}\S", copied, re.MULTILINE)
    assert f"{service.url}/api/signal-endpoint/alerts" in copied
    assert task.costs() == (1, 0)


def test_an_alert_on_the_home_page_is_undone(task, incident, flags):
    task.start("/")
    task.click("link", re.compile("^Turn back on …"), "#alerts", exact=False)
    dialog = task.page.get_by_role("dialog")
    dialog.wait_for()
    assert dialog.get_by_role("radio").count() == 3
    dialog.get_by_label("ignore this alert until it resolves").check()
    task.click("button", "Confirm", "dialog")
    until(flags.is_on, "the flag is on")
    task.see("Turned back on.")
    assert task.costs() == (2, 1)


def test_why_a_flag_is_off_for_a_user(task, incident):
    task.start(FLAG)
    task.fill("User", "7")
    task.click("button", "Why?", "main")
    task.see("User 7 doesn't get it: it is off.")
    assert task.costs() == (1, 1)


def test_what_changed_in_production_last_week(task, incident):
    task.start("/")
    task.click("link", "Audit log", "nav")
    task.click("link", "production", "main")
    task.page.locator(".log summary").first.click(position={"x": 8, "y": 8})
    task.clicks += 1
    lines = task.page.locator(".diff span:visible")
    assert lines.count() > 1
    assert task.costs() == (3, 2)


def test_a_flag_is_enabled_in_development(task, flags):
    flags.create_flag("checkout")
    task.start("/admin/features")
    task.click("switch", "checkout in development")
    task.see("Enabled checkout in development.")
    assert flags.is_on("checkout", "development")
    assert task.costs() == (1, 0)


def test_a_flag_is_found_by_its_name(task, flags):
    for name in ("checkout", "banner"):
        flags.create_flag(name)
    task.start("/admin/environments")
    task.page.keyboard.press("Control+k")
    task.page.keyboard.type("bann")
    task.page.get_by_role("dialog").get_by_role("link", name="banner").wait_for()
    task.page.keyboard.press("Enter")
    task.page.wait_for_url("**/admin/features/banner")
    task.page.wait_for_load_state()
    assert task.costs() == (0, 1)


def test_a_rollout_percentage_is_raised(task, flags):
    flags.create_flag("checkout")
    flags.add_strategy("checkout", parameters={"rollout": "25", "groupId": "checkout"})
    task.start(FLAG)
    task.click("link", re.compile("^Edit"), "#in-production", exact=False)
    task.fill("Rollout percentage", "50")
    task.click("button", "Save strategy")
    task.see("Strategy saved.")
    (strategy,) = flags.list_strategies("checkout")
    assert strategy["parameters"]["rollout"] == "50"
    assert task.costs() == (2, 2)


def test_a_flag_is_created(task, flags):
    task.start("/admin/features")
    task.click("link", "New flag")
    task.fill("Name", "checkout")
    task.click("button", "Create flag")
    task.see("Flag created.")
    assert task.costs() == (2, 2)


def test_a_token_for_an_application_is_created_and_copied(task):
    task.start("/admin/api-tokens")
    task.click("link", "New API token")
    task.fill("Name", "shop-web")
    task.click("button", "Create token")
    task.click("button", "Copy Token")
    task.see("Copied")
    assert task.costs() == (3, 2)


def test_the_signal_that_disabled_a_flag_is_found(task, incident):
    task.start("/admin/features")
    task.click("link", "checkout", "#flag-checkout")
    task.click("link", re.compile(r"^signal \d+"), "main", exact=False)
    task.see("CheckoutErrors")
    assert "/log/" in task.page.url
    assert task.costs() == (2, 2)

"""The page on which an endpoint gets a rule: form, state, badges."""

from __future__ import annotations

import pytest

from tests.conftest import ADMIN
from tests.jobs.silence_kit import ENDPOINTS, Silence


@pytest.fixture
def silence(service, clock):
    return Silence(service, clock)


@pytest.fixture
def browser(cast):
    return cast.signed_in("ada")


def open_form(browser, endpoint):
    page = browser.get(f"/admin/signals/{endpoint['id']}/silence")
    return page.forms[next(n for n, form in page.forms.items() if "schedule" in form.fields)]


def read_rule(silence, endpoint):
    path = f"{ENDPOINTS}/{endpoint['id']}"
    return silence.web.get(path, headers=ADMIN).json["options"].get("silence")


def test_the_form_sets_and_removes_a_rule_and_keeps_other_options(silence, browser):
    endpoint = silence.make.endpoint("backup", options={"statusPath": "a.b"})
    form = open_form(browser, endpoint)
    form["schedule"], form["options.silence.cron"], form["options.silence.timezone"] = (
        "cron",
        "30 2 * * *",
        "Europe/Berlin",
    )
    form["options.silence.graceSeconds"] = "600"
    form.submit(status=303)
    rule = {"cron": "30 2 * * *", "timezone": "Europe/Berlin", "graceSeconds": 600}
    assert read_rule(silence, endpoint) == rule
    form = open_form(browser, endpoint)
    assert (form["schedule"].value, form["options.silence.cron"].value) == ("cron", "30 2 * * *")
    form["schedule"] = "none"
    form.submit(status=303)
    options = silence.web.get(f"{ENDPOINTS}/{endpoint['id']}", headers=ADMIN).json["options"]
    assert options == {"statusPath": "a.b"}


def test_errors_are_beside_their_fields(silence, browser):
    endpoint = silence.make.endpoint("backup")
    form = open_form(browser, endpoint)
    form["schedule"], form["options.silence.everySeconds"] = "every", "soon"
    form["options.silence.graceSeconds"] = "-1"
    page = form.submit(status=400)
    for name in ("everySeconds", "graceSeconds"):
        assert f'id="options.silence.{name}-problem"' in page
    assert "soon" in page


def test_the_form_of_the_endpoint_keeps_the_rule(silence, browser):
    endpoint = silence.make.endpoint("backup", options={"silence": {"everySeconds": 60}})
    page = browser.get(f"/admin/signals/{endpoint['id']}/settings")
    form = next(form for form in page.forms.values() if "description" in form.fields)
    form["description"] = "Nightly"
    form.submit(status=303)
    assert read_rule(silence, endpoint) == {"everySeconds": 60}


def test_late_and_down_look_different(silence, browser):
    silence.endpoint(everySeconds=60, graceSeconds=60)
    silence.send()
    silence.wait(60)
    assert '<span class="badge warn">late</span>' in browser.get("/admin/signals")
    silence.wait(60)
    assert '<span class="badge wrong">down</span>' in browser.get("/admin/signals")


def test_the_state_is_on_the_list_the_log_and_the_page(silence, browser):
    endpoint = silence.endpoint(everySeconds=60)
    assert "waiting for the first signal" in browser.get("/admin/signals")
    silence.send()
    silence.wait(60)
    for path in ("", f"/{endpoint['id']}/log", f"/{endpoint['id']}/silence"):
        assert '<span class="badge wrong">down</span>' in browser.get(f"/admin/signals{path}")
    silence.switch(endpoint, "off")
    assert ">paused</span>" in browser.get("/admin/signals")

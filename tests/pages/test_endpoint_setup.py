"""The tabs of a signal endpoint, and its setup: the sender's file, samples."""

from __future__ import annotations

import shlex

import pytest
import yaml

from sigservice.senders import SENDERS, list_external
from tests.conftest import ADMIN
from tests.pages.page_reader import find_error, follow, form_to, heading, notice
from tests.table_tests import each

TABS = {
    "Signals": "log",
    "Setup": "setup",
    "Tokens": "tokens",
    "Refused": "refused",
    "Settings": "settings",
}


def at(endpoint, tab):
    return f"/admin/signals/{endpoint['id']}/{tab}"


def read_signals(web, endpoint):
    path = f"/api/admin/signal-endpoints/{endpoint['id']}/signals"
    return web.get(path, headers=ADMIN).json["signalEndpointSignals"]


@pytest.fixture
def grafana(make):
    return make.endpoint("alerts", template="grafana")


@pytest.mark.parametrize("tab", TABS)
def test_each_tab_links_the_others_below_one_heading(ada, endpoint, tab):
    page = ada.get(at(endpoint, TABS[tab]))
    assert heading(page) == "deploys"
    tabs = page.html.find(class_="tabs").find_all("a")
    assert {link.get_text(): link["href"] for link in tabs} == {
        label: at(endpoint, name) for label, name in TABS.items()
    }
    assert [link.get_text() for link in tabs if link.get("aria-current") == "page"] == [tab]
    crumbs = page.html.find(class_="breadcrumbs").find_all("a")
    assert [link["href"] for link in crumbs] == ["/admin/signals"]


def test_a_page_below_a_tab_leads_back_to_it(ada, endpoint, token):
    page = ada.get(f"{at(endpoint, 'tokens')}/{token['id']}/rotate")
    assert heading(follow(page, "Tokens")) == "deploys"


def test_a_disabled_endpoint_says_so(ada, make):
    assert "disabled" in heading(ada.get(at(make.endpoint(enabled=False), "log")))


def test_the_setup_has_the_url_and_keeps_the_lines_of_the_file(ada, make):
    endpoint = make.endpoint("alerts", template="alertmanager")
    page = ada.get(at(endpoint, "setup"))
    text = page.html.find("pre").find("code", id="setup").get_text()
    assert text == SENDERS["alertmanager"].fill_setup(endpoint["url"])
    receiver = yaml.safe_load(text.split("\n\n")[1])["receivers"][0]
    assert receiver["webhook_configs"][0]["url"] == endpoint["url"]


def test_a_new_token_is_in_the_setup_and_in_the_command(ada, make):
    endpoint = make.endpoint("alerts", template="alertmanager")
    form = form_to(ada.get(at(endpoint, "tokens")), at(endpoint, "tokens"))
    form["name"] = "eu"
    page = form.submit(status=303).follow()
    secret = page.html.find(id="secret").get_text()
    assert f"credentials: {secret}" in page.html.find(id="setup").get_text()
    assert f"Authorization: Bearer {secret}" in shlex.split(page.html.find(id="curl").get_text())
    assert page.html.find(class_="tabs").find("a", string="Setup")["aria-current"] == "page"


def test_without_a_new_token_the_setup_says_what_to_replace(ada, make):
    endpoint = make.endpoint("alerts", template="alertmanager")
    assert follow(ada.get(at(endpoint, "setup")), "Create token")
    make.token(endpoint)
    text = ada.get(at(endpoint, "setup")).html.main.get_text(" ", strip=True)
    assert "Replace SIGNAL_TOKEN with a token" in text


def test_the_setup_of_a_signing_sender_leads_to_its_kind_of_token(ada, make):
    page = ada.get(at(make.endpoint("errors", template="sentry"), "setup"))
    assert page.html.find(id="curl") is None
    page = follow(page, "Create signature token")
    assert page.html.find("input", attrs={"name": "signature.scheme"})["value"] == "sentry"


def test_an_endpoint_without_a_sender_shows_the_setup_of_any_script(ada, endpoint):
    page = ada.get(at(endpoint, "setup"))
    assert "Scripts and CI" in page.html.main.get_text()
    assert follow(page, "Choose another sender")


@each("sender", list(list_external()))
def test_each_sender_has_a_guide_and_samples(ada, web, make, sender):
    endpoint = make.endpoint("alerts", template=sender)
    page = ada.get(at(endpoint, "setup"))
    follow(page, f"Guide: {SENDERS[sender].title}")
    form = form_to(page, at(endpoint, "samples/firing"))
    form.submit(status=303)
    (signal,) = read_signals(web, endpoint)
    assert signal["payload"] == SENDERS[sender].samples.firing
    has_end = SENDERS[sender].samples.resolved is not None
    assert (at(endpoint, "samples/resolved") in page.text) == has_end
    web.delete(f"/api/admin/signal-endpoints/{endpoint['id']}", headers=ADMIN)


def test_a_sample_runs_the_action_sets_that_match(ada, flags, sets, endpoint):
    sets.set()
    page = ada.get(at(endpoint, "setup"))
    assert "kill checkout" in page.html.main.get_text()
    page = form_to(page, at(endpoint, "samples/firing")).submit(status=303).follow()
    assert notice(page) == "Test signal sent."
    sets.work()
    assert not flags.is_on()


def test_an_unknown_sample_is_not_found(ada, web, grafana):
    for name in ("none", "__class__"):
        ada.post(at(grafana, f"samples/{name}"), {"csrf": ada.csrf}, status=404)
    assert read_signals(web, grafana) == []


def test_a_disabled_endpoint_refuses_samples(ada, web, make):
    endpoint = make.endpoint(enabled=False)
    ada.post(at(endpoint, "samples/firing"), {"csrf": ada.csrf}, status=409)
    assert read_signals(web, endpoint) == []


def test_a_payload_to_send_begins_with_the_sample(ada, grafana):
    page = ada.get(at(grafana, "send"))
    assert '"alertname"' in form_to(page, at(grafana, "send"))["payload"].value


def test_the_settings_change_the_sender_and_keep_the_options(ada, web, grafana):
    form = form_to(ada.get(at(grafana, "settings")), at(grafana, "settings"))
    assert form["template"].value == "grafana"
    form["template"] = "alertmanager"
    form.submit(status=303)
    path = f"/api/admin/signal-endpoints/{grafana['id']}"
    endpoint = web.get(path, headers=ADMIN).json
    assert (endpoint["template"], endpoint["options"]) == ("alertmanager", grafana["options"])


def test_an_unknown_sender_in_the_settings_is_an_error_of_the_field(ada, read_state, grafana):
    before = read_state()
    form = form_to(ada.get(at(grafana, "settings")), at(grafana, "settings"))
    form["template"].force_value("<x>")
    assert "must be one of" in find_error(form.submit(status=400), "template")
    assert read_state() == before

"""Runs of action sets, pages: history, one run, undo, cancelling what is scheduled."""

from __future__ import annotations

import re

import pytest

from sigservice.repository.actions import action_runs
from tests.conftest import ADMIN
from tests.pages.page_reader import alert, follow, form_to, heading, notice
from tests.pages.test_actions import PATH, main


def read_rows(page):
    texts = [" ".join(row.get_text(" ").split()) for row in page.html.select("tbody th")]
    return [re.sub(r" \(run \d+\)", "", text) for text in texts]


def test_what_an_automation_did_is_a_sentence(ada, flags, sets, endpoint, token, send):
    id = sets.set()
    page = ada.get(f"{PATH}/{id}/runs")
    assert "It hasn't acted yet." in main(page)
    assert "When an alert arrives from deploys, turn checkout off in production" in main(page)
    send(endpoint, token, {"alertname": "CheckoutErrors", "n": 1})
    sets.work()
    page = ada.get(f"{PATH}/{id}/runs")
    assert read_rows(page) == ["turned checkout off in production"]
    page = page.click("turned checkout off in production")
    assert heading(page) == "CheckoutErrors turned checkout off in production"
    row = " ".join(page.html.select_one("tbody tr").get_text(" ").split())
    assert row == "checkout production on → off"
    assert " ms after the alert" in main(page)
    assert '"n": 1' in page.html.find("pre").get_text()
    signal = follow(page, "signal")
    assert "kill checkout in default : succeeded" in main(signal)


def test_skips_of_one_reason_and_hour_are_one_row(ada, flags, sets, endpoint, token, send):
    id = sets.set(options={"cooldownSeconds": 60})
    for _ in range(4):
        send(endpoint, token, {})
    sets.work()
    assert read_rows(ada.get(f"{PATH}/{id}/runs")) == [
        "nothing: Cooldown: it ran less than 60 s ago. 3 times",
        "turned checkout off in production",
    ]


def test_a_page_that_large_payloads_end_early_leads_to_older_runs(
    ada, flags, sets, endpoint, token, send, monkeypatch
):
    id = sets.set()
    for _ in range(2):
        send(endpoint, token, {})
    sets.work()
    monkeypatch.setattr(action_runs, "PAGE_BYTES", 1)
    page = ada.get(f"{PATH}/{id}/runs")
    assert len(read_rows(page)) == 1
    older = follow(page, "Older →")
    assert len(read_rows(older)) == 1
    assert "Older" not in older.html.find("main").get_text()


def test_undo_asks_first_and_happens_once(ada, flags, sets, endpoint, token, send):
    id = sets.set()
    send(endpoint, token, {})
    sets.work()
    (run,) = sets.runs(id)
    at = f"{PATH}/{id}/runs/{run['id']}"
    page = follow(ada.get(at), "Undo")
    assert "checkout in production: off → on" in main(page)
    assert not flags.is_on()
    page = form_to(page, f"{at}/undo").submit().follow()
    assert "It is taken back now." in notice(page)
    sets.work()
    assert flags.is_on()
    page = ada.get(f"{PATH}/{id}/runs")
    assert read_rows(page) == ["took 1 flag back", "turned checkout off in production"]
    assert "It was taken back" in main(ada.get(at))
    assert "nothing to undo" in main(ada.get(f"{at}/undo"))
    page = ada.post(f"{at}/undo", {"csrf": ada.csrf}, status=409)
    assert "nothing to undo" in alert(page)


REVERTS = {"restoreWhenResolved": {"path": "status", "values": ["resolved"], "key": "id"}}


@pytest.fixture
def firing(sets, send, endpoint, token):
    """The ID of a set, and the path of its run for an alert that still fires."""
    id = sets.set(options=REVERTS)
    send(endpoint, token, {"alertname": "CheckoutErrors", "status": "firing", "id": "cpu"})
    sets.work()
    return id, f"{PATH}/{id}/runs/{sets.runs(id)[0]['id']}"


def test_the_undo_of_an_alert_that_fires_asks_what_happens_to_the_alert(ada, firing):
    _, at = firing
    page = ada.get(f"{at}/undo")
    assert "CheckoutErrors is still firing." in main(page)
    labels = [label.text for label in page.html.select("#alert label")]
    assert labels == [
        "Leave it off",
        "Turn it on, and ignore this alert until it resolves",
        "Turn it on, and disable the automation “kill checkout”",
    ]
    assert form_to(page, f"{at}/undo")["alert"].value == "leave"


def test_an_undo_that_leaves_the_flag_off_changes_nothing(ada, flags, firing, sets):
    id, at = firing
    form_to(ada.get(f"{at}/undo"), f"{at}/undo").submit(status=303)
    sets.work()
    assert not flags.is_on()
    assert len(sets.runs(id)) == 1


def test_an_undo_refuses_an_unknown_choice_and_changes_nothing(ada, flags, firing, sets):
    id, at = firing
    page = ada.post(f"{at}/undo", {"csrf": ada.csrf, "alert": "later"}, status=400)
    assert "alert must be one of" in main(page)
    sets.work()
    assert not flags.is_on()
    assert sets.look(id)["enabled"]


def test_the_undo_of_a_disabled_set_does_not_say_that_the_alert_repeats(ada, firing):
    id, at = firing
    ada.post(f"{PATH}/{id}/off", {"csrf": ada.csrf}, status=303)
    assert "still firing" not in main(ada.get(f"{at}/undo"))


def test_an_undo_that_disables_the_set_lasts_when_the_alert_repeats(
    ada, flags, firing, sets, send, endpoint, token
):
    id, at = firing
    form = form_to(ada.get(f"{at}/undo"), f"{at}/undo")
    form["alert"] = "disable"
    form.submit(status=303)
    sets.work()
    send(endpoint, token, {"status": "firing", "id": "cpu"})
    sets.work()
    assert flags.is_on()
    assert not sets.look(id)["enabled"]


def test_restoring_that_is_scheduled_can_be_cancelled(ada, flags, sets, endpoint, token, send):
    id = sets.set(options={"restoreAfterMinutes": 5})
    send(endpoint, token, {})
    sets.work()
    (run,) = sets.runs(id)
    at = f"{PATH}/{id}/runs/{run['id']}"
    page = form_to(ada.get(at), f"{at}/cancel-restore").submit().follow()
    assert "It stays as it is." in notice(page)
    assert sets.runs(id)[0]["restoreDueAt"] is None
    page = ada.post(f"{at}/cancel-restore", {"csrf": ada.csrf}, status=409)
    assert "No auto-revert" in alert(page)


def test_failed_dry_and_suppressed_runs_say_why(ada, web, flags, sets, endpoint, token, send):
    id = sets.set(options={"cooldownSeconds": 60, "dryRun": True})
    for _ in range(2):
        send(endpoint, token, {})
    sets.work()
    page = ada.get(f"{PATH}/{id}/runs")
    assert read_rows(page) == [
        "nothing: Cooldown: it ran less than 60 s ago.",
        "Would have: Disabled checkout in production.",
    ]
    assert flags.is_on()
    other = sets.set("other")
    flags.archive("checkout")
    send(endpoint, token, {})
    sets.work()
    assert read_rows(ada.get(f"{PATH}/{other}/runs"))[0].startswith("✕ failed: ")
    web.delete(f"/api/admin{PATH.removeprefix('/admin')}/{other}", headers=ADMIN)
    signal = web.get("/api/admin/signals", headers=ADMIN).json["signals"][0]["id"]
    page = ada.get(f"/admin/signals/{endpoint['id']}/log/{signal}")
    assert "other : failed" in main(page)
    run = next(a for a in page.html.find_all("a") if "/runs/" in a["href"] and "Run" in a.text)
    assert page.goto(run["href"]).status_int == 200


def test_history_has_pages(ada, sets, endpoint, token, send):
    id = sets.set(options={"dryRun": True})
    for _ in range(21):
        send(endpoint, token, {})
    sets.work()
    page = ada.get(f"{PATH}/{id}/runs")
    assert len(read_rows(page)) == 20
    page = follow(page, "Older →")
    assert len(read_rows(page)) == 1
    assert page.html.find("a", string="← Newest")["href"] == "?"


def test_an_undo_that_ignores_the_alert_lasts_until_it_resolves(
    ada, flags, firing, sets, send, endpoint, token
):
    id, at = firing
    form = form_to(ada.get(f"{at}/undo"), f"{at}/undo")
    form["alert"] = "ignore"
    form.submit(status=303)
    sets.work()
    send(endpoint, token, {"status": "firing", "id": "cpu"})
    sets.work()
    assert flags.is_on()
    assert sets.look(id)["enabled"]
    assert "ada took it back. The alert is ignored until it resolves." in main(ada.get(at))
    page = form_to(ada.get(at), f"{at}/watch-alert").submit().follow()
    assert "is ignored" not in main(page)
    send(endpoint, token, {"status": "firing", "id": "cpu"})
    sets.work()
    assert not flags.is_on()

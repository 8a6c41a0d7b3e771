"""A flag that a firing alert holds off: turning it on asks what happens to the alert, and a person
can keep it off."""

# ruff: noqa: F811
from __future__ import annotations

import pytest

from tests.conftest import ADMIN
from tests.pages.page_reader import form_to, heading
from tests.pages.test_action_runs import firing  # noqa: F401
from tests.pages.test_actions import main

FLAG = "/admin/features/checkout"
ON = f"{FLAG}/environments/production/on"


def ask(browser, sets):
    """The question of the switch."""
    page = browser.post(ON, {"csrf": browser.csrf}, status=200)
    assert heading(page) == "An alert of deploys is still firing"  # admins read its name
    return form_to(page, ON)


@pytest.fixture
def repeat(send, endpoint, token, sets):
    def repeat(status="firing"):
        send(endpoint, token, {"alertname": "CheckoutErrors", "status": status, "id": "cpu"})
        sets.work()

    return repeat


def test_the_switch_asks_what_happens_to_an_alert_that_fires(ed, sets, firing):
    form = ask(ed, sets)
    assert form["alert"].value == "leave"
    text = main(ed.post(ON, {"csrf": ed.csrf}))
    assert "checkout is off in production because of it, for" in text
    assert "Turn it on, and disable the automation “kill checkout”" in text


def test_a_flag_that_is_left_off_stays_off(ed, flags, sets, firing):
    ask(ed, sets).submit(status=303)
    assert not flags.is_on()


def test_a_flag_stays_on_while_its_alert_is_ignored(ed, flags, sets, firing, repeat):
    form = ask(ed, sets)
    form["alert"], form["why"] = "ignore", "model is up"
    form.submit(status=303)
    repeat()
    assert flags.is_on()
    assert sets.look(firing[0])["enabled"]
    assert "in production: “model is up”" in main(ed.get("/admin/events"))


def test_an_editor_turns_on_and_disables_the_automation(ed, flags, sets, firing, repeat):
    form = ask(ed, sets)
    form["alert"] = "disable"
    form.submit(status=303)
    repeat()
    assert flags.is_on()
    assert not sets.look(firing[0])["enabled"]


def test_an_unknown_choice_is_refused(ed, flags, firing):
    body = {"csrf": ed.csrf, "alert": "x", "confirmed": "on"}
    ed.post(ON, body, status=400)
    assert not flags.is_on()


def test_flags_are_turned_on_together_with_the_same_question(ed, flags, sets, firing):
    body = {"csrf": ed.csrf, "flag.checkout": "on", "change": "on:production"}
    form = form_to(ed.post("/admin/features", body, status=200), "/admin/features")
    form["alert"] = "ignore"
    form.submit(status=303)
    assert flags.is_on()


def test_the_alert_turns_its_flags_back_on(ed, flags, sets, firing, repeat):
    path = f"{firing[1]}/turn-on"
    form = form_to(ed.get(path), path)
    form["alert"] = "ignore"
    form.submit(status=303)
    repeat()
    assert flags.is_on()


def test_a_link_with_a_choice_changes_nothing(ed, flags, sets, firing):
    ed.get(f"{firing[1]}/turn-on?alert=disable", status=200)
    assert not flags.is_on()
    assert sets.look(firing[0])["enabled"]


@pytest.mark.parametrize("choice", ["ignore", "disable"])
def test_the_api_settles_the_alert_too(web, flags, sets, firing, repeat, choice):
    place = "/api/admin/projects/default/features/checkout/environments/production/on"
    web.post(f"{place}?alert={choice}", headers=ADMIN)
    repeat()
    assert flags.is_on()
    assert sets.look(firing[0])["enabled"] is (choice == "ignore")
    web.post(f"{place}?alert=x", headers=ADMIN, status=400)


def test_a_flag_that_is_kept_off_stays_off_when_the_alert_resolves(
    ed,
    web,
    flags,
    firing,
    repeat,
):
    form = form_to(ed.get(FLAG), f"{firing[1]}/keep-off")
    form.submit(status=303)
    repeat("resolved")
    assert not flags.is_on()
    assert "Off: kept off by ed" in main(ed.get(FLAG))
    (row,) = web.get("/api/admin/alerts", headers=ADMIN).json["alerts"]
    assert (row["feature"], row["keptBy"], row["isFiring"]) == ("checkout", "ed", False)
    assert "ed kept checkout off in production" in main(ed.get("/admin/events"))


def test_a_flag_that_is_turned_on_is_no_longer_kept_off(ed, web, flags, sets, firing, repeat):
    ed.post(f"{firing[1]}/keep-off", {"csrf": ed.csrf}, status=303)
    form = ask(ed, sets)
    form["alert"] = "ignore"
    form.submit(status=303)
    flags.switch(to="off")
    assert web.get("/api/admin/alerts", headers=ADMIN).json["alerts"] == []


def test_an_alert_that_fires_later_does_not_hold_what_is_kept_off(ed, flags, firing, repeat):
    ed.post(f"{firing[1]}/keep-off", {"csrf": ed.csrf}, status=303)
    for status in ("resolved", "firing", "resolved"):
        repeat(status)
    assert not flags.is_on()


def test_what_is_kept_off_cannot_be_kept_off_twice(ed, firing):
    ed.post(f"{firing[1]}/keep-off", {"csrf": ed.csrf}, status=303)
    ed.post(f"{firing[1]}/keep-off", {"csrf": ed.csrf}, status=409)


def test_a_viewer_can_neither_keep_it_off_nor_turn_it_on(vera, firing):
    for command in ("keep-off", "turn-on"):
        vera.post(f"{firing[1]}/{command}", {"csrf": vera.csrf}, status=403)

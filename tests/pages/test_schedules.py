"""Schedules on pages: the form of an action set, the change of a flag at a time, what is due."""

from __future__ import annotations

from datetime import timedelta

import pytest

from sigservice.clock import format_iso
from tests.conftest import ADMIN
from tests.pages.page_reader import find_error, form_to, notice

PATH = "/admin/projects/default/actions"
SCHEDULED = "/api/admin/projects/default/scheduled"
CRON = {"source": "schedule", "cron": "0 22 * * FRI", "timezone": "Europe/Berlin"}


def main(page):
    return " ".join(page.html.find("main").get_text(" ").split())


def choose_trigger(form, trigger):
    """The form after the button that changes the trigger, as without JavaScript."""
    form["trigger"] = trigger
    return form_to(form.submit("do", value="trigger", status=200), f"{PATH}/new")


@pytest.fixture
def new_form(ada, sets):
    form = form_to(ada.get(f"{PATH}/new"), f"{PATH}/new")
    form["name"] = "weekend"
    form["actions.0.executionParams.environment"] = "production"
    form["actions.0.executionParams.featureName"] = "checkout"
    return form


def test_a_set_with_a_cron_expression_is_created_by_the_form(new_form, sets, web):
    form = choose_trigger(new_form, "cron")
    form["match.cron"], form["match.timezone"] = "0 22 * * FRI", "Europe/Berlin"
    form["options.skipIfLateMinutes"] = "30"
    assert notice(form.submit().follow()).startswith("Action set created.")
    (one,) = web.get("/api/admin/projects/default/actions", headers=ADMIN).json["actions"]
    assert (one["match"], one["options"]) == (CRON, {"skipIfLateMinutes": 30})


def test_a_set_that_runs_once_is_created_by_the_form(new_form, web):
    form = choose_trigger(new_form, "at")
    form["match.at"] = "2999-12-01T08:00"
    form.submit(status=303)
    (one,) = web.get("/api/admin/projects/default/actions", headers=ADMIN).json["actions"]
    assert one["dueAt"] == "2999-12-01T08:00:00.000Z"


def test_a_changed_trigger_is_shown_before_it_is_saved(new_form, web):
    new_form["trigger"] = "cron"
    page = new_form.submit(status=200)
    assert "Nothing is saved yet" in page.text
    assert "match.cron" in form_to(page, f"{PATH}/new").fields


def test_a_problem_of_a_schedule_is_beside_its_field(new_form):
    form = choose_trigger(new_form, "at")
    form["match.at"] = "2020-12-01T08:00"
    assert find_error(form.submit(status=400), "match.at").startswith("The time has passed.")
    form = choose_trigger(new_form, "cron")
    form["match.cron"], form["match.timezone"] = "never", "Europe/Berlin"
    assert "cron expression" in find_error(form.submit(status=400), "match.cron")


def test_a_saved_schedule_comes_back_unchanged(ada, sets):
    id = sets.set(match=CRON, options={"skipIfLateMinutes": 5})
    before = sets.look(id)
    form_to(ada.get(f"{PATH}/{id}"), f"{PATH}/{id}").submit(status=303)
    assert sets.look(id) == before


def test_the_time_of_a_set_is_shown_in_its_time_zone(ada, sets):
    match = {"source": "schedule", "at": "2999-12-01T08:00:00Z", "timezone": "Europe/Berlin"}
    id = sets.set(match=match)
    form = form_to(ada.get(f"{PATH}/{id}"), f"{PATH}/{id}")
    assert form["match.at"].value == "2999-12-01T09:00"
    form.submit(status=303)
    assert sets.look(id)["dueAt"] == "2999-12-01T08:00:00.000Z"


def test_a_card_says_when_a_set_runs(ada, sets, service):
    sets.set(match=CRON)
    assert "Trigger 0 22 * * FRI (Europe/Berlin) next in" in main(ada.get(PATH))


def test_a_card_says_that_a_set_is_done(ada, sets, service):
    at = format_iso(service.context.clock.now() + timedelta(seconds=60))
    sets.set(match={"source": "schedule", "at": at})
    service.context.clock.advance(120)
    sets.work()
    card = main(ada.get(PATH))
    assert f"Once at {at} done" in card
    assert f"late: it was due at {at}" in card


def test_the_test_of_a_schedule_needs_no_signal(ada, sets):
    id = sets.set(match=CRON)
    page = form_to(ada.get(f"{PATH}/{id}/test"), f"{PATH}/{id}/test").submit(status=200)
    assert "Would run" in main(page)
    assert "The actions run at the next time." in main(page)


def test_a_run_says_that_a_schedule_caused_it(ada, sets, service):
    id = sets.set(match=CRON | {"cron": "* * * * *"})
    service.context.clock.advance(60)
    sets.work()
    assert "Schedule" in main(ada.get(f"{PATH}/{id}/runs"))
    (run,) = sets.runs(id)
    assert "Trigger Schedule" in main(ada.get(f"{PATH}/{id}/runs/{run['id']}"))

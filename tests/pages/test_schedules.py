"""Schedules on pages: the form of an action set, the change of a flag at a time, what is due."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from sigservice.clock import format_iso
from sigservice.services.cron_times import describe_next_times
from tests.conftest import ADMIN
from tests.pages.page_reader import find_error, follow, form_to, heading, notice
from tests.repository.kit import run

PATH = "/admin/projects/default/actions"
SCHEDULED = "/api/admin/projects/default/scheduled"
CRON = {"source": "schedule", "cron": "0 22 * * FRI", "timezone": "Europe/Berlin"}


def main(page):
    return " ".join(page.html.find("main").get_text(" ").split())


def read_card(page):
    return " ".join(page.html.find(class_="scheduled").get_text(" ").split())


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
    assert notice(form.submit().follow()).startswith("Protected.")
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
    for cron, reason in (
        ("never", "five fields"),
        ("61 0 31 2 *", "five fields"),
        ("0 0 31 2 *", "never comes"),
        ("0 0 30 2 *", "never comes"),
        ("0 0 31 4,6,9 *", "never comes"),
    ):
        form["match.cron"], form["match.timezone"] = cron, "Europe/Berlin"
        assert reason in find_error(form.submit(status=400), "match.cron")


@pytest.mark.parametrize(
    ("cron", "times"),
    [
        ("0 22 29 2 *", "Tue 2028-02-29 22:00, Sun 2032-02-29 22:00, Fri 2036-02-29 22:00"),
        ("0 0 31 2 *", ""),
    ],
)
def test_next_times_of_a_cron_expression(cron, times):
    after = datetime(2026, 12, 1, tzinfo=UTC)
    assert describe_next_times(cron, "Europe/Berlin", after) == times


def test_the_form_shows_the_next_three_times(sets, ada):
    id = sets.set(match=CRON)
    page = main(ada.get(f"{PATH}/{id}"))
    assert page.partition("Next: ")[2].count("Fri 20") == 3


def test_a_set_that_is_done_does_not_count_against_the_limit(ada, sets, service):
    at = {"source": "schedule", "at": "2999-12-01T08:00:00Z"}
    for number in range(50):
        sets.set(f"set {number}", match=dict(at))
    full = "The limit of 50 automations is reached."
    assert full in main(ada.get(f"{PATH}/new"))
    with service.context.database.transaction() as conn:
        run(conn, "UPDATE action_sets SET due_at = NULL WHERE name = 'set 0' RETURNING id")
    assert full not in main(ada.get(f"{PATH}/new"))
    assert "Protect a flag" in main(ada.get("/admin/automation?project=default"))


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


def test_a_plan_in_the_list_leads_to_planned(ada, sets):
    sets.set(match=CRON)
    text = "At a time: turn checkout off in production · see Planned"
    assert text in main(ada.get("/admin/automation"))


def test_a_set_that_is_done_is_not_listed(ada, sets, service):
    at = format_iso(service.context.clock.now() + timedelta(seconds=60))
    sets.set(match={"source": "schedule", "at": at})
    service.context.clock.advance(120)
    sets.work()
    assert "At a time" not in main(ada.get("/admin/automation"))


def test_the_test_of_a_schedule_needs_no_signal(ada, sets):
    id = sets.set(match=CRON)
    page = form_to(ada.get(f"{PATH}/{id}/test"), f"{PATH}/{id}/test").submit(status=200)
    assert "Would run" in main(page)
    assert "The actions run at the next time." in main(page)


def test_a_run_says_that_a_schedule_caused_it(ada, sets, service):
    id = sets.set(match=CRON | {"cron": "* * * * *"})
    service.context.clock.advance(60)
    sets.work()
    assert "turned checkout off in production" in main(ada.get(f"{PATH}/{id}/runs"))
    (run,) = sets.runs(id)
    assert "kill checkout turned checkout off" in main(ada.get(f"{PATH}/{id}/runs/{run['id']}"))


def schedule(user, **texts):
    """The form that schedules a change of `checkout`, filled in."""
    page = user.get("/admin/features/checkout/schedule?environment=production")
    form = form_to(page, "/admin/features/checkout/schedule")
    for name, text in {"match.at": "2999-12-01T08:00"}.items():
        form[name] = text
    for name, text in texts.items():
        form[{"change": "actions.0.action", "to": "actions.0.executionParams.rollout"}[name]] = text
    return form


def list_scheduled(web):
    return web.get(SCHEDULED, headers=ADMIN).json["scheduled"]


def test_a_change_of_a_flag_with_the_name_new_leads_back_to_its_page(ada, sets, flags):
    flags.create_flag("new")
    page = ada.get("/admin/features/new/schedule?environment=production&change=on")
    assert heading(follow(page, "Cancel")) == "new"
    form = form_to(page, "/admin/features/new/schedule")
    form["match.at"] = "2999-12-01T08:00"
    assert notice(form.submit().follow()) == "Change scheduled."


@pytest.mark.parametrize(
    ("texts", "name"),
    [
        ({"change": "TOGGLE_FEATURE_ON"}, "Enable checkout in production"),
        ({"change": "TOGGLE_FEATURE_OFF"}, "Disable checkout in production"),
        (
            {"change": "SET_FEATURE_ROLLOUT", "to": "0"},
            "Set rollout of checkout in production to 0%",
        ),
    ],
)
def test_a_change_is_scheduled_on_the_page_of_the_flag(ada, sets, web, texts, name):
    page = schedule(ada, **texts).submit().follow()
    assert notice(page) == "Change scheduled."
    (item,) = list_scheduled(web)
    assert item["name"] == f"{name}, 2999-12-01 08:00 UTC"
    assert item["dueAt"] == "2999-12-01T08:00:00.000Z"
    assert item["actions"][0]["action"] == texts["change"]
    assert name in read_card(page)


def test_a_scheduled_change_reverts_after_a_time(ada, sets, web):
    form = schedule(ada)
    form["options.restoreAfterMinutes"] = "120"
    form.submit(status=303)
    (one,) = web.get("/api/admin/projects/default/actions", headers=ADMIN).json["actions"]
    assert one["options"] == {"restoreAfterMinutes": 120}


def test_a_scheduled_change_leads_to_its_environment(ada, sets):
    form = schedule(ada)
    form["actions.0.executionParams.environment"] = "development"
    assert form.submit().follow().html.find(id="in-development")


def test_problems_of_a_scheduled_change_are_beside_their_fields(ada, sets, web):
    form = schedule(ada, change="SET_FEATURE_ROLLOUT", to="")
    form["match.at"] = "2020-12-01T08:00"
    page = form.submit(status=400)
    assert find_error(page, "match.at").startswith("The time has passed.")
    assert find_error(page, "actions.0.executionParams.rollout") == "Percentage is required."
    assert list_scheduled(web) == []


def test_what_is_due_is_listed_on_the_flag_the_project_and_the_home_page(ada, vera, sets):
    sets.set(match=CRON)
    for user in (ada, vera):
        text = read_card(user.get("/admin/features/checkout"))
        assert "Disable checkout in production · 0 22 * * FRI (Europe/Berlin)" in text
    for user in (ada, vera):
        assert "0 22 * * FRI" in main(user.get("/admin/releases?state=scheduled"))
    pages = "/admin/projects/default/overview", "/"
    for path in pages:
        for user in (ada, vera):
            text = " ".join(user.get(path).html.find(id="scheduled").get_text(" ").split())
            assert "Disable checkout in production" in text
            assert "0 22 * * FRI (Europe/Berlin)" in text


def test_a_flag_lists_what_changes_it_only(ada, sets, flags):
    flags.create_flag("other")
    sets.set(match=CRON)
    assert ada.get("/admin/features/other").html.find(class_="scheduled") is None


def test_what_is_due_says_who_has_scheduled_it(ada, sets):
    schedule(ada).submit(status=303)
    assert "· by ada" in read_card(ada.get("/admin/features/checkout"))


def test_an_editor_plans_a_change_carries_it_out_and_cancels_no_other_set(
    ed, vera, sets, web, flags
):
    schedule(ed).submit(status=303)
    (item,) = list_scheduled(web)
    path = f"{PATH}/{item['actionSetId']}"
    vera.get("/admin/features/checkout/schedule", status=403)
    vera.post(f"{path}/now", {"csrf": vera.csrf}, status=403)
    question = follow(ed.get("/"), f"Cancel: {item['name']}")
    page = form_to(question, f"{path}/delete").submit(status=303).follow()
    assert notice(page) == "Scheduled change cancelled."
    schedule(ed).submit(status=303)
    (item,) = list_scheduled(web)
    page = ed.get("/admin/features/checkout")
    form_to(page, f"{PATH}/{item['actionSetId']}/now").submit(status=303).follow()
    other = sets.set("other", match=CRON)
    assert not follow_texts(ed.get("/"), f"{PATH}/{other}")
    ed.post(f"{PATH}/{other}/delete", {"csrf": ed.csrf}, status=403)
    ed.post(f"{PATH}/{other}/now", {"csrf": ed.csrf}, status=403)


def test_an_editor_schedules_with_no_more_than_the_own_permissions(ed, sets, web):
    body = {"username": "root", "rootRole": "Admin"}
    root = web.post_json("/api/admin/service-account", body, headers=ADMIN).json["id"]
    form = schedule(ed)
    assert [text for _, _, text in form["actorId"].options][1:] == ["switcher"]
    fields = {name: form[name].value for name in form.fields if name}
    path = "/admin/features/checkout/schedule"
    page = ed.post(path, fields | {"actorId": str(root)}, status=400)
    assert "Service account not found." in main(page)
    assert list_scheduled(web) == []


def follow_texts(page, path):
    """The texts of the links to the path and below."""
    return [link.get_text() for link in page.html.select(f"a[href^='{path}']")]


def test_a_scheduled_change_is_cancelled_after_a_question(ada, vera, sets, web):
    schedule(ada).submit(status=303)
    (item,) = list_scheduled(web)
    card = read_card(vera.get("/admin/features/checkout"))
    assert ("Cancel" in card, "Do it now" in card) == (False, False)
    question = follow(ada.get("/admin/features/checkout"), f"Cancel: {item['name']}")
    assert heading(question) == f"Cancel {item['name']}?"
    form = form_to(question, f"{PATH}/{item['actionSetId']}/delete")
    assert notice(form.submit(status=303).follow()) == "Planned change cancelled."
    assert list_scheduled(web) == []


OFF = "/admin/features/checkout/environments/production/off"
ON = "/admin/features/checkout/environments/production/on"


def ask(user, path=OFF):
    """The question of the switch."""
    return form_to(form_to(user.get("/admin/features/checkout"), path).submit(status=200), path)


def test_the_question_leads_to_the_form_of_a_change_at_a_time(ada, sets, flags):
    page = form_to(ada.get("/admin/features/checkout"), OFF).submit(status=200)
    form = form_to(page.click("At a time …"), "/admin/features/checkout/schedule")
    assert form["actions.0.action"].value == "TOGGLE_FEATURE_OFF"
    assert form["actions.0.executionParams.environment"].value == "production"


def test_the_question_leads_to_a_release_and_to_none_for_turning_off(ada, sets, flags):
    page = form_to(ada.get("/admin/features/checkout"), OFF).submit(status=200)
    assert "In steps …" not in page
    ask(ada).submit(status=303)
    page = form_to(ada.get("/admin/features/checkout"), ON).submit(status=200)
    assert page.click("In steps …").request.path.endswith("/production/releases/new")


def test_the_reason_of_a_change_is_in_the_audit_log(ada, ed, sets, flags):
    form = ask(ed)
    form["why"] = "<b>SHOP-7"
    form.submit(status=303)
    assert "ed turned checkout off in production: “<b>SHOP-7”" in main(ada.get("/admin/events"))


def test_a_scheduled_change_is_done_now(ada, sets, flags, web):
    schedule(ada, change="TOGGLE_FEATURE_OFF").submit(status=303)
    (item,) = list_scheduled(web)
    form = form_to(ada.get("/admin/features/checkout"), f"{PATH}/{item['actionSetId']}/now")
    assert notice(form.submit(status=303).follow()) == "The change runs now."
    sets.work()
    assert sets.runs(item["actionSetId"])[0]["state"] == "success"
    assert list_scheduled(web) == []
    ada.post(f"{PATH}/{item['actionSetId']}/now", {"csrf": ada.csrf}, status=409)


def create_release(web, **plan):
    place = "/api/admin/projects/default/features/checkout/environments/production"
    (strategy,) = web.get(STRATEGIES, headers=ADMIN).json
    body = {"name": "flexibleRollout", "parameters": {"rollout": "1"}}
    web.put_json(f"{STRATEGIES}/{strategy['id']}", body, headers=ADMIN)
    body = {"steps": [{"rollout": 10, "minutes": 60}, {"rollout": 100}], "watchMinutes": 60} | plan
    return web.post_json(f"{place}/releases", body, headers=ADMIN, status=201).json


def disable_in(ada, clock, **time):
    form = schedule(ada, change="TOGGLE_FEATURE_OFF")
    form["match.at"] = format_iso(clock.now() + timedelta(**time))[:16]
    form.submit(status=303)


def test_a_release_that_conflicts_is_named(ada, sets, flags, web, service):
    release = create_release(web)
    schedule(ada).submit(status=303)
    assert "conflicts" not in read_card(ada.get("/admin/features/checkout"))
    disable_in(ada, service.context.clock, minutes=30)
    card = read_card(ada.get("/admin/features/checkout"))
    assert f"conflicts: release {release['id']} moves it until" in card


def test_a_release_that_is_scheduled_conflicts_in_its_last_step_too(ada, sets, flags, web, service):
    clock = service.context.clock
    release = create_release(web, startAt=format_iso(clock.now() + timedelta(minutes=30)))
    disable_in(ada, clock, minutes=140)
    card = read_card(ada.get("/admin/features/checkout"))
    assert f"conflicts: release {release['id']} moves it until" in card


STRATEGIES = "/api/admin/projects/default/features/checkout/environments/production/strategies"


def test_a_change_of_an_archived_flag_is_not_done_and_home_says_so(ada, vera, sets, web):
    schedule(ada, change="SET_FEATURE_ROLLOUT", to="50").submit(status=303)
    (item,) = list_scheduled(web)
    web.delete("/api/admin/projects/default/features/checkout", headers=ADMIN, status=202)
    ada.post(f"{PATH}/{item['actionSetId']}/now", {"csrf": ada.csrf}, status=303)
    sets.work()
    assert sets.runs(item["actionSetId"])[0]["state"] == "failed"
    text = " ".join(vera.get("/").html.find(id="failed").get_text(" ").split())
    assert "not done" in text
    assert "Not done: checkout is archived. Review" in text

"""Strategies on the page of a flag: order, disabled ones, copies."""

from __future__ import annotations

import pytest

from tests.conftest import ADMIN
from tests.pages.page_reader import form_to, heading, notice
from tests.pages.test_actions import main

PATH = "/admin/features/checkout"


@pytest.fixture
def path(flags):
    """`path(id)` is that of a strategy in production, which has three."""
    flags.create_flag()
    return lambda id, environment="production": f"{PATH}/environments/{environment}/strategies/{id}"


@pytest.fixture
def ids(flags, path):
    return [
        flags.add_strategy(title=title, parameters={"rollout": percentage})
        for title, percentage in (("one", "10"), ("two", "20"), ("three", "30"))
    ]


def titles(flags, environment="production"):
    return [row["title"] for row in flags.list_strategies(environment=environment)]


def list_changes(question):
    """(mark, text) of the lines of the question."""
    return [
        (part.name if (part := line.find(["del", "ins"])) else "", line.get_text().strip())
        for line in question.html.select("ul.changes li")
    ]


def press(browser, path, name=None, value=None):
    """The page after the button of a strategy's form."""
    environment = path.split("/environments/")[1].partition("/")[0]
    form = form_to(browser.get(f"{PATH}?env={environment}"), path)
    return form.submit(name, value=value, status=303).follow()


def test_a_strategy_moves_up_and_down(ed, flags, path, ids):
    page = press(ed, f"{path(ids[1])}/move", "to", "up")
    assert notice(page) == "Strategy moved."
    assert titles(flags) == ["two", "one", "three"]
    press(ed, f"{path(ids[1])}/move", "to", "down")
    assert titles(flags) == ["one", "two", "three"]


def test_the_ends_of_the_list_have_one_button(ed, path, ids):
    page = ed.get(PATH)
    buttons = page.html.select("button[name=to]")
    assert [" ".join(button.get_text().split()) for button in buttons] == [
        "Move down: strategy 1 in production",
        "Move up: strategy 2 in production",
        "Move down: strategy 2 in production",
        "Move up: strategy 3 in production",
    ]


def test_a_strategy_has_a_link_and_a_menu(ed, ids):
    for actions in ed.get(PATH).html.select(".strategy .actions"):
        assert [tag.name for tag in actions.find_all(True, recursive=False)] == ["a", "details"]


def test_a_move_beyond_the_end_changes_nothing(ed, flags, path, ids):
    ed.post(f"{path(ids[0])}/move", {"csrf": ed.csrf, "to": "up"}, status=303)
    assert titles(flags) == ["one", "two", "three"]
    assert flags.get_events()[0]["type"] == "feature-strategy-add"


@pytest.mark.parametrize("to", ["", "left"])
def test_a_move_to_nowhere_is_refused(ed, path, ids, to):
    ed.post(f"{path(ids[0])}/move", {"csrf": ed.csrf, "to": to}, status=400)


def test_a_strategy_is_disabled_and_enabled(ed, flags, path, ids):
    assert notice(press(ed, f"{path(ids[0])}/off")) == "Strategy disabled."
    assert [row["disabled"] for row in flags.list_strategies()] == [True, False, False]
    assert notice(press(ed, f"{path(ids[0])}/on")) == "Strategy enabled."
    assert [row["disabled"] for row in flags.list_strategies()] == [False, False, False]
    assert titles(flags) == ["one", "two", "three"]


def test_a_strategy_is_copied_with_everything(ed, flags, path):
    segment = flags.create_segment()
    constraint = {"contextName": "country", "operator": "IN", "values": ["DE"]}
    variant = {"name": "a", "weight": 1000, "weightType": "variable", "stickiness": "default"}
    more = {"constraints": [constraint], "segments": [segment], "variants": [variant]}
    id = flags.add_strategy(environment="development", parameters={"rollout": "25"}, **more)
    source = path(id, "development")
    page = press(ed, f"{source}/copy", "environment", "production")
    assert notice(page) == "Strategy copied."
    (original,) = flags.list_strategies(environment="development")
    (copy,) = flags.list_strategies()
    assert copy.pop("id") != original.pop("id")
    assert copy == original


def test_a_copy_to_production_asks_first_if_the_flag_is_on_there(ed, flags, path):
    id = flags.add_strategy(environment="development", parameters={"rollout": "25"})
    flags.switch(environment="production")
    before = len(flags.list_strategies())
    form = form_to(ed.get(f"{PATH}?env=development"), f"{path(id, 'development')}/copy")
    question = form.submit("environment", value="production")
    assert heading(question) == "Change who gets checkout in production?"
    assert list_changes(question) == [
        ("", "100% of users"),
        ("ins", "25% of users · sticky on userId or sessionId · group checkout"),
    ]
    assert len(flags.list_strategies()) == before
    page = question.forms[1].submit(status=303).follow()
    assert notice(page) == "Strategy copied."
    assert len(flags.list_strategies()) == before + 1


def test_a_strategy_that_is_added_in_production_asks_first(ed, flags, path):
    flags.switch()
    new = path("new")
    form = form_to(ed.get(new), new)
    form["parameters.rollout"] = "25"
    question = form.submit()
    assert heading(question) == "Change who gets checkout in production?"
    page = question.forms[1].submit(status=303).follow()
    assert notice(page) == "Strategy saved."
    assert flags.list_strategies()[-1]["parameters"]["rollout"] == "25"


@pytest.mark.parametrize("is_form", [False, True])
def test_the_last_active_strategy_in_production_is_disabled_after_a_question(
    ed, flags, path, is_form
):
    id = flags.add_strategy(parameters={"rollout": "25"})
    flags.switch()
    where = path(id) if is_form else f"{path(id)}/off"
    form = form_to(ed.get(path(id) if is_form else PATH), where)
    if is_form:
        form["disabled"] = "on"
    question = form.submit(status=200)
    assert heading(question) == "Change who gets checkout in production?"
    assert list_changes(question)[1] == ("ins", "nobody: it is turned off")
    assert flags.is_on()
    form_to(question, where).submit(status=303)
    assert (flags.is_on(), flags.list_strategies()[0]["disabled"]) == (False, True)


def test_a_strategy_is_disabled_without_a_question_where_the_flag_stays_as_it_is(
    ed, web, flags, path, ids
):
    press(ed, f"{path(ids[0])}/off")
    press(ed, f"{path(ids[2])}/off")


def test_a_switch_to_on_without_a_strategy_says_who_gets_it(ed, path):
    form = form_to(ed.get(PATH), f"{PATH}/environments/production/on")
    question = form.submit()
    assert "Everyone gets it at once: it has no active strategy." in question


def test_a_switch_to_on_names_the_default_strategy_of_the_project(ed, web, flags):
    flags.create_flag("other")
    flags.add_strategy("other", disabled=True)
    place = "/api/admin/projects/default/environments/production/default-strategy"
    rules = {"parameters": {"rollout": "5"}, "segments": [flags.create_segment("volunteers")]}
    web.post_json(place, {"name": "flexibleRollout", **rules}, headers=ADMIN)
    default = "5% of users · sticky on userId or sessionId · segment volunteers"
    page = ed.get("/admin/features/other")
    card = page.html.find(id="in-production").get_text()
    assert "No strategy is active." in card
    assert f"Turning it on adds the default strategy: {default}" in card
    question = form_to(page, "/admin/features/other/environments/production/on").submit()
    text = f"It has no active strategy, so it gets the default strategy of the project: {default}."
    assert text in question


@pytest.mark.parametrize("to", ["", "none", "\U0001f600"])
def test_a_copy_to_an_unknown_environment_is_refused(ed, flags, path, ids, to):
    body = {"csrf": ed.csrf, "environment": to}
    ed.post(f"{path(ids[0])}/copy", body, status=404)


@pytest.mark.parametrize("change", ["move", "on", "off", "copy"])
def test_an_unknown_strategy_is_not_found(ed, path, change):
    body = {"csrf": ed.csrf, "to": "up", "environment": "development"}
    ed.post(f"{path('none')}/{change}", body, status=404)


def test_a_change_in_production_says_who_gets_it_before_and_after(ed, flags, path, ids):
    flags.switch()
    form = form_to(ed.get(path(ids[1])), path(ids[1]))
    form["parameters.rollout"] = "25"
    question = form.submit(status=200)
    assert list_changes(question)[0] == ("", "20% → 25% of users")
    assert flags.list_strategies()[1]["parameters"]["rollout"] == "20"
    form = form_to(question, path(ids[1]))
    form["why"] = "<b>ramp"
    form.submit(status=303)
    assert flags.list_strategies()[1]["parameters"]["rollout"] == "25"
    sentence = "changed the rollout of checkout from 20% to 25% in production: “<b>ramp”"
    assert sentence in main(ed.get("/admin/events"))


def test_a_change_of_a_title_in_production_asks_nothing(ed, flags, path, ids):
    flags.switch()
    form = form_to(ed.get(path(ids[1])), path(ids[1]))
    form["title"] = "other"
    form.submit(status=303)
    assert titles(flags) == ["one", "other", "three"]


def test_a_strategy_is_removed_with_a_reason(ed, flags, path, ids):
    flags.switch()
    form = form_to(ed.get(f"{path(ids[0])}/delete"), f"{path(ids[0])}/delete")
    form["why"] = "no longer used"
    form.submit(status=303)
    sentence = "removed the strategy one from checkout in production: “no longer used”"
    assert sentence in main(ed.get("/admin/events"))

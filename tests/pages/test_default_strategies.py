"""The page of a project's default strategy."""

from __future__ import annotations

from tests.pages.page_reader import find_error, follow, form_to, heading, notice

PATH = "/admin/projects/default/environments/production/default-strategy"


def test_new_flags_get_the_default_strategy_when_they_are_enabled(ada, flags):
    page = follow(ada.get("/admin/projects/default/edit"), "Default strategy in production")
    form = form_to(page, PATH)
    form["parameters.rollout"] = "25"
    question = form.submit(status=200)
    assert heading(question) == "Change who gets new flags in production?"
    page = form_to(question, PATH).submit(status=303).follow()
    assert notice(page) == "The default strategy was saved."
    flags.create_flag()
    flags.switch()
    (strategy,) = flags.list_strategies()
    assert strategy["parameters"]["rollout"] == "25"
    assert strategy["parameters"]["groupId"] == "checkout"


def test_the_form_shows_what_is_stored(ada):
    form = form_to(ada.get(PATH), PATH)
    form["parameters.rollout"], form["title"] = "25", "Careful"
    assert "disabled" not in form.fields
    form_to(form.submit(status=200), PATH).submit(status=303)
    form = form_to(ada.get(PATH), PATH)
    assert (form["parameters.rollout"].value, form["title"].value) == ("25", "Careful")


def test_a_changed_type_shows_its_fields_and_saves_nothing(ada, read_state):
    before = read_state()
    form = form_to(ada.get(PATH), PATH)
    form["name"] = "remoteAddress"
    page = form.submit(status=200)
    assert page.html.find(id="parameters.IPs")
    assert "Nothing is saved yet" in notice(page)
    assert read_state() == before


def test_an_invalid_rollout_is_an_error_of_its_field(ada):
    form = form_to(ada.get(PATH), PATH)
    form["parameters.rollout"] = "101"
    assert find_error(form.submit(status=400), "parameters.rollout")


def test_an_environment_that_the_project_does_not_use_is_not_found(ada):
    ada.get(PATH.replace("production", "nowhere"), status=404)

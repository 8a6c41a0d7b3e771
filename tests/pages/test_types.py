"""Pages of flag types, strategy types and tag types."""

from __future__ import annotations

import pytest

from tests.pages.page_reader import find_error, follow, form_to, notice

PATH = "/admin/types"


def test_the_lifetime_of_a_flag_type_changes(ada):
    page = follow(ada.get(PATH), "Edit flag type release")
    form = form_to(page, f"{PATH}/flags/release/edit")
    assert form["lifetimeDays"].value == "40"
    form["lifetimeDays"] = "12"
    page = form.submit(status=303).follow()
    assert notice(page) == "Type saved."
    assert "12 days" in page.html.find(id="flag-types").get_text()


@pytest.mark.parametrize("days", ["-1", "x", "1.5", "100001", "9" * 40])
def test_an_invalid_lifetime_is_shown_again_with_its_error(ada, days):
    form = form_to(ada.get(f"{PATH}/flags/release/edit"), f"{PATH}/flags/release/edit")
    form["lifetimeDays"] = days
    page = form.submit(status=400)
    assert "whole number from 0" in find_error(page, "lifetimeDays")
    assert page.html.find(id="lifetimeDays")["value"] == days


def test_a_strategy_type_is_created_with_parameters_and_its_form_offers_them(ada, flags):
    form = form_to(follow(ada.get(PATH), "New strategy type"), f"{PATH}/strategies/new")
    form["name"], form["title"] = "byRegion", "By region"
    form = form_to(form.submit("do", value="add-parameters"), f"{PATH}/strategies/new")
    form["parameters.0.name"], form["parameters.0.type"] = "regions", "list"
    form["parameters.0.required"] = True
    page = form.submit(status=303).follow()
    assert notice(page) == "Type created."
    flags.create_flag()
    path = "/admin/features/checkout/environments/production/strategies/new"
    form = form_to(ada.get(path), path)
    form["name"] = "byRegion"
    page = form.submit()
    assert page.html.find(id="parameters.regions").name == "textarea"


def test_a_strategy_type_is_edited_deprecated_and_deleted(place, ada):
    path = f"{PATH}/strategies/byRegion"
    form = form_to(ada.get(f"{path}/edit"), f"{path}/edit")
    form["title"] = "Where"
    page = form.submit(status=303).follow()
    assert "Where" in page.html.find(id="strategy-types").get_text()
    page = form_to(page, f"{path}/off").submit(status=303).follow()
    assert notice(page).startswith("Strategy type deprecated.")
    form = form_to(ada.get(f"{path}/delete"), f"{path}/delete")
    page = form.submit(status=303).follow()
    assert notice(page) == "Type deleted."
    ada.get(f"{path}/edit", status=404)


def test_a_strategy_type_in_use_is_not_deleted(place, ada, flags):
    flags.create_flag("other")
    flags.add_strategy("other", name="byRegion")
    path = f"{PATH}/strategies/byRegion"
    form = form_to(ada.get(f"{path}/delete"), f"{path}/delete")
    page = form.submit(status=409)
    assert "other" in page.text
    ada.get(f"{path}/edit", status=200)


def test_invalid_fields_of_a_strategy_type_are_shown_where_they_are(ada):
    form = form_to(ada.get(f"{PATH}/strategies/new"), f"{PATH}/strategies/new")
    form["name"] = "by region"
    form = form_to(form.submit("do", value="add-parameters"), f"{PATH}/strategies/new")
    page = form.submit(status=400)
    assert find_error(page, "parameters.0.name")


def test_a_tag_type_is_created_edited_and_deleted(ada, web):
    form = form_to(follow(ada.get(PATH), "New tag type"), f"{PATH}/tags/new")
    form["name"], form["description"] = "team", "Who owns it"
    page = form.submit(status=303).follow()
    assert "Who owns it" in page.html.find(id="tag-types").get_text()
    form = form_to(ada.get(f"{PATH}/tags/team/edit"), f"{PATH}/tags/team/edit")
    form["description"] = "Which team"
    assert "Which team" in form.submit(status=303).follow().text
    form = form_to(ada.get(f"{PATH}/tags/team/delete"), f"{PATH}/tags/team/delete")
    assert notice(form.submit(status=303).follow()) == "Type deleted."


def test_a_name_that_exists_is_shown_with_its_error(place, ada):
    for kind, name in (("tags", "owner"), ("strategies", "byRegion")):
        form = form_to(ada.get(f"{PATH}/{kind}/new"), f"{PATH}/{kind}/new")
        form["name"] = name
        assert "already exists" in form.submit(status=409).text


def test_built_in_types_offer_no_deletion(ada):
    page = ada.get(PATH)
    links = [link["href"] for link in page.html.find(id="main").find_all("a", href=True)]
    assert not [link for link in links if "flexibleRollout/" in link or "simple/delete" in link]

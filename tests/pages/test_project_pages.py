"""The page of a project, and the pages that export its flags and import others."""

from __future__ import annotations

import json

import pytest

from tests.conftest import ADMIN
from tests.pages.page_reader import find_error, follow, form_to, heading, notice

PATH = "/admin/projects/default"
IMPORT = f"{PATH}/import"


def texts(page, id):
    section = page.html.find(id=id)
    return [" ".join(row.get_text(" ").split()) for row in section.find_all("li")]


def test_a_project_has_its_numbers_environments_sets_and_tokens(ada, web, flags, sets):
    flags.create_flag("old")
    web.post_json(
        "/api/admin/projects/default/stale",
        {"features": ["old"], "stale": True},
        headers=ADMIN,
    )
    sets.set("kill")
    body = {"tokenName": "shop", "type": "client", "environment": "production"}
    web.post_json("/api/admin/api-tokens", body | {"projects": ["default"]}, headers=ADMIN)
    page = follow(ada.get("/admin/projects"), "Default")
    assert heading(page) == "Default"
    numbers = [" ".join(dd.get_text(" ").split()) for dd in page.html.find(class_="numbers")("dd")]
    assert numbers == [
        "2 flags",
        "See them",
        "0",
        "0 under way",
        "1 user",
    ]
    assert "production 1 flag enabled" in texts(page, "environments")
    assert texts(page, "action-sets") == ["kill enabled"]
    assert texts(page, "tokens") == ["shop client production"]
    assert "created the automation kill" in " ".join(texts(page, "changes"))


def test_a_viewer_sees_neither_sets_nor_tokens(vera, flags):
    flags.create_flag()
    page = vera.get(f"{PATH}/overview")
    for id in ("action-sets", "tokens"):
        assert not page.html.find(id=id)
    assert "created the flag checkout" in texts(page, "changes")[0]


@pytest.fixture
def document(ada, web, flags):
    """An export of checkout, which is enabled in production with a rollout of 25%; afterwards the
    flag has another rollout and a second flag exists."""
    flags.create_flag()
    id = flags.add_strategy(parameters={"rollout": "25"})
    flags.switch()
    page = follow(ada.get(f"{PATH}/overview"), "Export flags")
    form = form_to(page, f"{PATH}/export")
    form["environment"] = "production"
    answer = form.submit(status=200)
    assert answer.headers["Content-Disposition"].startswith(
        'attachment; filename="flags-default-production-'
    )
    path = f"/api/admin/projects/default/features/checkout/environments/production/strategies/{id}"
    web.put_json(path, {"name": "default"}, headers=ADMIN)
    return answer.json


def fill(page, document, environment="production"):
    form = form_to(page, IMPORT)
    form["data"] = document if isinstance(document, str) else json.dumps(document)
    form["environment"] = environment
    return form


def test_an_import_shows_the_difference_before_it_writes(ada, flags, document):
    page = fill(ada.get(IMPORT), document).submit("do", value="preview", status=200)
    (change,) = texts(page, "difference")
    assert change.startswith("flag checkout")
    assert flags.list_strategies()[0]["name"] == "default"
    page = form_to(page, IMPORT).submit("do", value="import", status=303).follow()
    assert notice(page) == "Flags imported."
    assert flags.list_strategies()[0]["parameters"]["rollout"] == "25"


def test_a_preview_counts_no_changes_of_flags(ada, web, document):
    def count():
        lines = web.get("/internal-backstage/prometheus").text.splitlines()
        return [line for line in lines if line.startswith("feature_toggle_update_total")]

    before = count()
    page = fill(ada.get(IMPORT), document).submit("do", value="preview", status=200)
    assert count() == before
    form_to(page, IMPORT).submit("do", value="import", status=303).follow()
    assert count() != before


def test_an_import_that_changes_nothing_says_so(ada, flags, document):
    page = fill(ada.get(IMPORT), document).submit("do", value="preview", status=200)
    page = form_to(page, IMPORT).submit("do", value="import", status=303).follow()
    page = fill(page, document).submit("do", value="preview", status=200)
    assert texts(page, "difference") == []
    assert "Nothing would change." in page.text
    assert not page.html.find("button", value="import")


WRONG = {
    "": "not valid JSON",
    "[" * 3000 + "]" * 3000: "nested deeper",
    '{"features": [{"name": "a\\u0000"}]}': "NUL",
    "[]": "must be a JSON object",
    '{"features": 1}': "features",
    '{"features": [{"name": "a b"}]}': "data.features[0].name",
}


@pytest.mark.parametrize("document", WRONG, ids=WRONG.values())
@pytest.mark.parametrize("button", ["preview", "import"])
def test_a_wrong_document_is_explained_and_kept(ada, document, button):
    body = {"csrf": ada.csrf, "environment": "production", "data": document, "do": button}
    page = ada.post(IMPORT, body, status=400)
    assert WRONG[document] in find_error(page, "data")
    assert form_to(page, IMPORT)["data"].value == document


def test_an_unknown_environment_is_refused(ada):
    body = {"csrf": ada.csrf, "environment": "none", "data": '{"features": []}'}
    ada.post(IMPORT, body, status=400)
    ada.get(f"{PATH}/export?environment=none", status=404)


def test_an_unknown_project_is_not_found(ada):
    for page in ("overview", "export", "import", "export?environment=production"):
        ada.get(f"/admin/projects/none/{page}", status=404)

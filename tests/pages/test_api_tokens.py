"""API tokens in a browser: list, create with the secret shown once, delete."""

from __future__ import annotations

import re

import pytest

from tests.conftest import ADMIN
from tests.delivery.kit import open_access
from tests.pages.page_reader import alert, crawl, find_error, form_to, heading, notice, read_table

PATH = "/admin/api-tokens"


def list_tokens(web):
    return web.get("/api/admin/api-tokens", headers=ADMIN).json["tokens"][1:]


def fill(ada, **values):
    form = form_to(ada.get(f"{PATH}/new"), f"{PATH}/new")
    for name, value in values.items():
        form[name] = value
    return form


def secret_of(page):
    return page.html.find(id="secret")["value"]


def test_the_secret_of_a_new_token_appears_once(ada, web, service):
    page = (
        fill(ada, tokenName="shop", environment="production", expiresAt="2999-01-01")
        .submit()
        .follow()
    )
    assert heading(page) == "Token for shop (production)"
    secret = secret_of(page)
    node = page.html.find("details", open=True)
    assert node.summary.string == "Node"
    assert f'Authorization: "{secret}"' in node.pre.get_text()
    assert 'url: "http://localhost:80/api/"' in node.pre.get_text()
    assert [fold.summary.string for fold in page.html.main.find_all("details")] == [
        "Node",
        "Python",
        "curl",
    ]
    assert re.fullmatch(r"\*:production\.[0-9a-f]{56}", secret)
    access, _ = open_access(service.context.revision_cache, secret)
    assert access.environment == "production"
    pages = crawl(ada)
    assert f"{PATH}/new" in pages
    assert not any(secret[-50:] in document.text for document in pages.values())
    row = read_table(pages[PATH], "tokens")["shop"]
    details = {label: cell.get_text(" ", strip=True) for label, cell in row.items()}
    assert details["Environment"] == "production"
    assert details["Projects"] == "all"
    assert details["Last used"] == "never"
    assert row["Expires"].time["datetime"].startswith("2999-01-01")
    assert details["Created"].endswith("by ada")
    assert access.token_name == "shop"


def test_an_expired_token_is_not_created(ada, web, clock):
    today = clock.now().date().isoformat()
    page = fill(ada, tokenName="shop", expiresAt=today).submit(status=400)
    assert find_error(page, "expiresAt") == "The date must be in the future."
    assert list_tokens(web) == []


@pytest.mark.parametrize(
    ("values", "scope"),
    [
        ({"type": "frontend"}, ("frontend", "development", ["*"])),
        ({"projects": "some", "projects.default": True}, ("client", "development", ["default"])),
        ({"type": "admin", "projects": "some"}, ("admin", "*", ["*"])),
    ],
    ids=str,
)
def test_a_token_has_the_selected_scope(ada, web, values, scope):
    fill(ada, tokenName="x", **values).submit(status=303)
    (token,) = list_tokens(web)
    assert (token["type"], token["environment"], token["projects"]) == scope


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"projects": "all"}, "not both"),
        ({"projects": "all", "type": "admin"}, "not both"),
        ({"projects": "some", "type": "admin"}, "all projects (*)"),
    ],
    ids=str,
)
def test_checked_projects_and_all_projects_exclude_each_other(ada, web, fields, reason):
    page = fill(ada, tokenName="x", **fields, **{"projects.default": True}).submit(status=400)
    assert reason in page.html.find(id="projects-problem").get_text()
    assert "all projects" in page.html.find(id="type-hint").get_text()
    form = form_to(page, f"{PATH}/new")
    assert (form["projects"].value, form["projects.default"].checked) == (fields["projects"], True)
    assert list_tokens(web) == []


def test_problems_of_a_token_form_are_reported_and_values_kept(ada, web):
    page = fill(ada, type="frontend", projects="some", expiresAt="soon").submit(status=400)
    assert "1 to 100" in find_error(page, "tokenName")
    assert "date" in find_error(page, "expiresAt")
    assert "at least one project" in alert(page)
    form = form_to(page, f"{PATH}/new")
    assert (form["type"].value, form["projects"].value) == ("frontend", "some")
    csrf = {"csrf": ada.csrf, "tokenName": "x", "type": "client"}
    body = csrf | {"environment": "nowhere", "projects": "some", "projects.gone": "on"}
    page = ada.post(f"{PATH}/new", body, status=400)
    assert "nowhere" in find_error(page, "environment")
    assert "gone" in alert(page)
    page = ada.post(f"{PATH}/new", csrf | {"type": "boss", "projects": "all"}, status=400)
    assert find_error(page, "type")
    assert list_tokens(web) == []


def test_a_token_is_deleted_after_confirmation(ada, web):
    fill(ada, tokenName="<b>old</b>").submit()
    (token,) = list_tokens(web)
    path = f"{PATH}/{token['id']}/delete"
    page = ada.get(path)
    assert heading(page).startswith("Delete API token <b>old</b> (")
    page = form_to(page, path).submit(status=303).follow()
    assert "Token deleted" in notice(page)
    assert list_tokens(web) == []
    ada.get(path, status=404)
    ada.post(path, {"csrf": ada.csrf}, status=404)


def test_viewers_have_no_access_to_tokens_and_users(vera):
    for path in (PATH, f"{PATH}/new", f"{PATH}/1/delete", "/admin/users", "/admin/users/1"):
        vera.get(path, status=403)
    for path in (f"{PATH}/new", f"{PATH}/1/delete", "/admin/users/new", "/admin/users/1/password"):
        vera.post(path, {"csrf": vera.csrf}, status=403)
    assert "API tokens" not in vera.get("/").text

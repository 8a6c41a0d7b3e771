"""The pages of projects, environments and context fields."""

from __future__ import annotations

import pytest

from tests.conftest import ADMIN
from tests.pages.page_reader import alert, find_error, form_to, heading, notice, read_table
from tests.pages.test_hostile_text import HOSTILE, faults, read_texts


def new(ada, path, status=303, **fields):
    form = form_to(ada.get(path), path)
    for name, value in fields.items():
        form[name] = value
    return form.submit(status=status)


def project(web, id, status=200):
    return web.get(f"/api/admin/projects/{id}", headers=ADMIN, status=status).json


def environments(web):
    return web.get("/api/admin/environments", headers=ADMIN).json["environments"]


# projects


def test_a_project_is_created_updated_and_deleted(ada, web):
    page = new(ada, "/admin/projects/new", name="Web shop", description="sells").follow()
    assert heading(page) == "Web shop"
    assert notice(page) == "The project was created."
    path = "/admin/projects/web-shop"
    assert page.request.path == f"{path}/edit"
    form = form_to(page, f"{path}/edit")
    assert form["description"].value == "sells"
    form["name"], form["defaultStickiness"] = "Shop", "userId"
    page = form.submit(status=303).follow()
    assert notice(page) == "The project was saved."
    row = project(web, "web-shop")
    assert (row["name"], row["description"]) == ("Shop", "sells")
    assert row["defaultStickiness"] == "userId"

    page = form_to(page, f"{path}/environments/production/off").submit(status=303).follow()
    assert "disabled" in notice(page)
    names = [row["environment"] for row in project(web, "web-shop")["environments"]]
    assert names == ["development", "default"]
    page = form_to(page, f"{path}/environments/production/on").submit(status=303).follow()
    assert len(project(web, "web-shop")["environments"]) == 3
    ada.post(f"{path}/environments/production/on", {"csrf": ada.csrf}, status=409)

    page = form_to(ada.get(f"{path}/delete"), f"{path}/delete").submit(status=303).follow()
    assert notice(page) == "The project was deleted."
    project(web, "web-shop", 404)


def test_errors_of_a_project_are_at_their_fields(ada, web):
    page = new(ada, "/admin/projects/new", status=400, name="x" * 201, description="kept")
    assert "200" in find_error(page, "name")
    assert form_to(page, "/admin/projects/new")["description"].value == "kept"
    page = new(ada, "/admin/projects/new", status=409, name="X", id="default")
    assert find_error(page, "id") == "The id default already exists."
    fields = {"csrf": ada.csrf, "name": "X", "defaultStickiness": ""}
    for path in ("/admin/projects/new", "/admin/projects/default/edit"):
        assert find_error(ada.post(path, fields, status=400), "defaultStickiness")
    assert len(web.get("/api/admin/projects", headers=ADMIN).json["projects"]) == 1


def test_an_environment_with_enabled_flags_is_only_taken_from_a_project_after_a_question(
    ada, flags
):
    flags.create_flag()
    flags.switch()
    path = "/admin/projects/default/environments/production/off"
    page = form_to(ada.get("/admin/projects/default/edit"), path).submit(status=200)
    assert "Disables 1 flag there at once." in page.html.main.get_text()
    assert flags.is_on()
    page = form_to(page, path).submit(status=303).follow()
    assert notice(page).startswith("The environment is disabled in this project")
    row = f"{path.removesuffix('off')}on"
    form_to(page, row).submit(status=303)
    assert not flags.is_on()


def test_the_deletion_of_a_project_names_and_records_its_action_sets(ada, service, read_api):
    new(ada, "/admin/projects/new", name="Shop")
    with service.context.database.transaction() as conn, conn.cursor() as cursor:
        cursor.execute(
            "INSERT INTO action_sets (project, name, actor_id, endpoint_id, created_by_user_id) "
            "VALUES ('shop', 'kill', 1, 1, 1) RETURNING id"
        )
        id = cursor.fetchone()[0]
    page = ada.get("/admin/projects/shop/delete")
    assert "its archived flags and its action sets" in page.html.main.get_text()
    form_to(page, "/admin/projects/shop/delete").submit(status=303)
    (event,) = read_api("events?type=actions-deleted")["events"]
    assert (event["project"], event["preData"]) == ("shop", {"id": id, "name": "kill"})


def test_a_project_in_use_shows_why_it_cannot_be_deleted(ada, service):
    page = ada.get("/admin/projects/default/delete")
    assert "default project can't be deleted" in page.html.main.get_text()
    new(ada, "/admin/projects/new", name="Shop")
    with service.context.database.transaction() as conn, conn.cursor() as cursor:
        cursor.execute(
            "INSERT INTO features (name, project, type, created_by) "
            "VALUES ('f', 'shop', 'release', 'ada')"
        )
    page = ada.get("/admin/projects/shop/delete")
    assert "1 flag" in page.html.main.get_text()
    path = "/admin/projects/shop/delete"
    assert path not in [form.action for form in page.forms.values()]
    page = ada.post(path, {"csrf": ada.csrf}, status=409)
    assert "The project shop still has flags: 1." in alert(page)
    ada.post("/admin/projects/default/delete", {"csrf": ada.csrf}, status=403)


# environments


def moves(page, name):
    form = form_to(page, f"/admin/environments/{name}/move")
    return [button._value for button in form.fields["to"]]


def test_environment_default_is_explained_and_can_be_disabled(ada, web):
    page = ada.get("/admin/environments")
    name = read_table(page, "environments")["default"]["Name"]
    assert "Used by what names no environment" in name.get_text()
    assert page.html.main.get_text().count("Used by what names no environment") == 1
    form_to(page, "/admin/environments/default/off").submit(status=303)
    assert {row["name"]: row["enabled"] for row in environments(web)}["default"] is False


def test_a_type_that_is_the_name_of_its_environment_is_not_repeated(ada):
    rows = read_table(ada.get("/admin/environments"), "environments")
    types = {name: row["Type"].get_text(strip=True) for name, row in rows.items()}
    assert types == {"production": "–", "development": "–", "default": "production"}
    settings = ada.get("/admin/projects/default/edit").html
    assert [badge.get_text() for badge in settings.select(".rows .tag")] == ["production"]


def test_an_environment_is_created_moved_disabled_and_deleted(ada, web):
    page = new(ada, "/admin/environments/new", name="staging", type="preproduction").follow()
    assert "created" in notice(page)
    assert [*read_table(page, "environments")] == [
        "production",
        "staging",
        "development",
        "default",
    ]
    path = "/admin/environments/staging"
    assert moves(page, "default") == ["up"]
    assert moves(page, "production") == ["down"]

    form_to(page, f"{path}/move").submit("to", value="up", status=303)
    names = [row["name"] for row in environments(web)]
    assert names == ["staging", "production", "development", "default"]
    fields = {"csrf": ada.csrf, "to": "up"}
    ada.post(f"{path}/move", fields, status=303)
    form = form_to(ada.get("/admin/environments"), f"{path}/move")
    form.submit("to", value="down", status=303)
    assert [row["name"] for row in environments(web)][:2] == ["production", "staging"]

    page = form_to(ada.get("/admin/environments"), f"{path}/off").submit(status=303).follow()
    assert "hidden" in notice(page)
    switch = page.html.find("button", attrs={"aria-label": "Environment staging"})
    assert switch["aria-checked"] == "false"
    assert environments(web)[1]["enabled"] is False
    form_to(page, f"{path}/on").submit(status=303)
    assert environments(web)[1]["enabled"] is True

    page = ada.get(f"{path}/delete")
    assert "all strategies and releases of flags in it" in page.html.main.get_text()
    page = form_to(page, f"{path}/delete").submit(status=303).follow()
    assert notice(page) == "The environment was deleted."
    assert len(environments(web)) == 3


def test_errors_of_an_environment_are_at_their_fields(ada, web):
    page = new(ada, "/admin/environments/new", status=400, name="a b")
    assert "letters" in find_error(page, "name")
    assert form_to(page, "/admin/environments/new")["name"].value == "a b"
    page = new(ada, "/admin/environments/new", status=409, name="default")
    assert find_error(page, "name") == "The name default already exists."
    fields = {"csrf": ada.csrf, "name": "x", "type": "y"}
    assert find_error(ada.post("/admin/environments/new", fields, status=400), "type")
    assert len(environments(web)) == 3


def test_an_environment_in_use_shows_why_it_cannot_be_deleted(ada, service):
    with service.context.database.transaction() as conn, conn.cursor() as cursor:
        cursor.execute(
            "INSERT INTO api_tokens (secret_hash, secret_prefix, token_name, type, environment, "
            "projects) VALUES ('x', 'x', 'sdk', 'client', 'production', ARRAY['*'])"
        )
    path = "/admin/environments/production/delete"
    assert "1 API token uses it" in ada.get(path).html.main.get_text()
    assert "API tokens" in alert(ada.post(path, {"csrf": ada.csrf}, status=409))
    ada.post("/admin/environments/default/delete", {"csrf": ada.csrf}, status=403)


# context fields


@pytest.fixture
def field(web):
    """`field(name)` is the field in the admin API."""

    def read(name="plan", status=200):
        return web.get(f"/api/admin/context/{name}", headers=ADMIN, status=status).json

    return read


def test_a_context_field_is_created_updated_and_deleted(ada, web, field):
    fields = {"name": "plan", "legalValues": " free \n\npaid\r\n", "stickiness": True}
    page = new(ada, "/admin/context/new", **fields).follow()
    assert notice(page) == "The context field was created."
    assert read_table(page, "context-fields")["plan"]["Legal values"].bdi.string == "free, paid"
    assert field()["legalValues"] == [{"value": "free"}, {"value": "paid"}]
    assert field()["stickiness"] is True
    web.post_json(
        "/api/admin/context/plan/legal-values",
        {"value": "paid", "description": "since May"},
        headers=ADMIN,
    )
    path = "/admin/context/plan/edit"
    form = form_to(ada.get(path), path)
    assert form["legalValues"].value.split() == ["free", "paid"]
    form["legalValues"], form["stickiness"] = "paid\ntrial", False
    assert "saved" in notice(form.submit(status=303).follow())
    assert field()["stickiness"] is False
    assert field()["legalValues"] == [
        {"value": "paid", "description": "since May"},
        {"value": "trial"},
    ]
    path = "/admin/context/plan/delete"
    page = form_to(ada.get(path), path).submit(status=303).follow()
    assert notice(page) == "The context field was deleted."
    field(status=404)


def test_legal_values_that_the_form_can_not_show_stay(ada, web, field):
    values = [{"value": " free "}, {"value": "a\nb", "description": "Two lines"}]
    body = {"name": "plan", "legalValues": values}
    web.post_json("/api/admin/context", body, headers=ADMIN)
    new(ada, "/admin/context/plan/edit", description="Saved")
    assert (field("plan")["description"], field("plan")["legalValues"]) == ("Saved", values)


def test_errors_of_a_context_field_are_at_their_fields(ada, field):
    page = new(ada, "/admin/context/new", status=400, name="plan", legalValues="a\na")
    assert "twice" in find_error(page, "legalValues")
    assert form_to(page, "/admin/context/new")["legalValues"].value.split() == ["a", "a"]
    page = new(ada, "/admin/context/new", status=409, name="userId")
    assert find_error(page, "name") == "The name userId already exists."
    page = new(ada, "/admin/context/userId/edit", status=400, description="x" * 1001)
    assert "1000" in find_error(page, "description")
    ada.post("/admin/context/userId/delete", {"csrf": ada.csrf}, status=403)
    field(status=404)


def test_hostile_text_is_escaped(ada, web):
    for n, text in enumerate(HOSTILE):
        body = {"id": f"p{n}", "name": text, "description": text}
        web.post_json("/api/admin/projects", body, headers=ADMIN, status=201)
        legal = [{"value": text}]
        body = {"name": f"f{n}", "description": text, "legalValues": legal}
        web.post_json("/api/admin/context", body, headers=ADMIN, status=201)
        body = {"name": f"s{n}", "description": text, "parameters": []}
        web.post_json("/api/admin/strategies", body, headers=ADMIN, status=201)
    for path in ("/admin/projects", "/admin/context"):
        page = ada.get(path)
        assert faults(page) == []
        assert all(text in read_texts(page) for text in HOSTILE)
    for n, text in enumerate(HOSTILE):
        page = ada.get(f"/admin/projects/p{n}/edit")
        assert faults(page) == []
        assert form_to(page, f"/admin/projects/p{n}/edit")["description"].value == text
        assert faults(ada.get(f"/admin/projects/p{n}/delete")) == []
        page = ada.get(f"/admin/context/f{n}/edit")
        assert faults(page) == []
        assert form_to(page, f"/admin/context/f{n}/edit")["legalValues"].value.strip() == text
        fields = {"csrf": ada.csrf, "name": text, "id": text, "values": text * 50, "type": text}
        for path in ("projects", "environments", "context"):
            assert faults(ada.post(f"/admin/{path}/new", fields, status=400)) == []

"""Segments: list with where they are used, new, edit, delete."""

from __future__ import annotations

from tests.conftest import ADMIN
from tests.pages.page_reader import alert, find_error, follow, form_to, heading, notice, read_table
from tests.pages.test_hostile_text import HOSTILE, faults

LIST = "/admin/segments"
NEW = f"{LIST}/new"


def read_rows(page):
    table = read_table(page, "segments")
    return {
        name: [" ".join(cell.get_text(" ").split()) for cell in cells.values()]
        for name, cells in table.items()
    }


def get(web, id):
    return web.get(f"/api/admin/segments/{id}", headers=ADMIN).json


def test_list_shows_constraints_and_flags_of_each_segment(vera, flags):
    assert "No segments yet." in vera.get(LIST).text
    id = flags.create_segment("beta", description="Volunteers")
    flags.create_segment("unused", constraints=[], project="default")
    for n in range(7):
        flags.create_flag(f"f{n}")
        flags.add_strategy(f"f{n}", segments=[id])
    flags.add_strategy("f0", "development", segments=[id])
    page = vera.get(LIST)
    segments = read_rows(page)
    assert segments["beta"] == [
        "beta Volunteers",
        "userId IN [ada]",
        "all",
        "f0 f1 f2 f3 f4 and 2 more",
    ]
    assert segments["unused"] == ["unused", "100% of users", "default", "–"]
    assert page.html.find("a", string="f3")["href"] == "/admin/features/f3"
    assert not page.html.find("main").find("form")
    assert not page.html.find("a", href=NEW)


def test_segment_is_created(ada, web):
    page = follow(ada.get(LIST), "New segment")
    form = form_to(page, NEW)
    form["name"], form["description"] = " beta ", "Two\r\nlines"
    form["constraints.0.contextName"], form["constraints.0.values"] = "userId", "ada\r\n\r\nbob "
    form = form_to(form.submit("do", value="add-constraints", status=200), NEW)
    form["constraints.1.contextName"], form["constraints.1.values"] = "since", "2026-01-01"
    form["constraints.1.operator"] = "DATE_AFTER"
    page = form.submit(status=303).follow()
    assert "Segment created." in notice(page)
    (segment,) = web.get("/api/admin/segments", headers=ADMIN).json["segments"]
    assert (segment["name"], segment["description"], segment["project"]) == (
        "beta",
        "Two\nlines",
        None,
    )
    first, second = segment["constraints"]
    assert first["values"] == ["ada", "bob"]
    assert second["value"] == "2026-01-01T00:00:00.000Z"


def test_context_fields_and_legal_values_are_suggested(ada, database):
    conn = database.connect()
    with conn.cursor() as cursor:
        cursor.execute(
            "INSERT INTO context_fields (name, legal_values) VALUES ('plan', "
            """'[{"value": "free"}, {"value": "<b>"}]')"""
        )
    conn.close()
    page = ada.get(NEW)
    choices = [option["value"] for option in page.html.find("datalist").find_all("option")]
    assert {"userId", "plan", "appName"} <= set(choices)
    assert page.html.find(id="constraints.0.contextName")["list"] == "context-fields"
    form = form_to(page, NEW)
    form["constraints.0.contextName"] = "plan"
    page = form.submit("do", value="add-constraints")
    assert "Legal values: free, <b>." in page.html.find(id="constraints.0.values-hint").get_text()
    assert faults(page) == []


def test_every_problem_is_shown_beside_its_field_and_the_values_stay(ada, read_state):
    before = read_state()
    form = form_to(ada.get(NEW), NEW)
    form["name"], form["description"] = " ", "d" * 1001
    form["constraints.0.operator"], form["constraints.0.values"] = "IN_CIDR", "10.0.0.0/8\r\nx"
    form["constraints.0.inverted"] = True
    page = form.submit(status=400)
    assert "1 to 200" in find_error(page, "name")
    assert "1000" in find_error(page, "description")
    assert "1 to 100" in find_error(page, "constraints.0.contextName")
    assert find_error(page, "constraints.0.values").startswith(
        "Line 2: A value must be an IP address"
    )
    form = form_to(page, NEW)
    assert form["constraints.0.values"].value.split() == ["10.0.0.0/8", "x"]
    assert (form["constraints.0.operator"].value, form["constraints.0.inverted"].checked) == (
        "IN_CIDR",
        True,
    )
    assert read_state() == before


def test_too_many_values_are_a_problem_of_all_constraints(ada):
    fields = {"csrf": ada.csrf, "name": "large"}
    for n in range(2):
        fields[f"constraints.{n}.contextName"], fields[f"constraints.{n}.operator"] = "a", "IN"
        fields[f"constraints.{n}.values"] = "\n".join(f"v{n}" for n in range(501))
    page = ada.post(NEW, fields, status=400)
    assert "more than 1,000 values" in page.html.find(id="constraints").find(class_="wrong").string


def test_segment_is_edited(ada, web, flags):
    id = flags.create_segment("beta", description="old", project="default")
    flags.create_segment("taken")
    path = f"{LIST}/{id}"
    page = follow(ada.get(LIST), "Edit beta")
    assert heading(page) == "Segment beta"
    form = form_to(page, path)
    assert (form["project"].value, form["description"].value) == ("default", "old")
    assert form["constraints.0.values"].value.strip() == "ada"
    form["name"] = "taken"
    page = form.submit(status=409)
    assert "already exists" in find_error(page, "name")
    form = form_to(page, path)
    form["name"], form["description"], form["project"] = "gamma", "", ""
    form = form_to(form.submit("do", value="remove-constraints.0", status=200), path)
    page = form.submit(status=303).follow()
    assert notice(page) == "Segment saved."
    segment = get(web, id)
    assert (segment["name"], segment["description"], segment["project"]) == ("gamma", None, None)
    assert segment["constraints"] == []


def test_a_form_keeps_the_blanks_of_values(ada, web, flags):
    rule = {"contextName": "company", "operator": "STR_CONTAINS", "values": [" Inc", " "]}
    id = flags.create_segment("beta", constraints=[rule])
    before = get(web, id)
    form = form_to(ada.get(f"{LIST}/{id}"), f"{LIST}/{id}")
    form["description"] = "Volunteers"
    form.submit(status=303)
    assert get(web, id) == before | {"description": "Volunteers"}


def test_unused_segment_is_deleted(ada, web, flags):
    flags.create_segment("beta")
    page = follow(ada.get(LIST), "Delete beta")
    assert "No flag uses this segment." in page.text
    page = page.forms[1].submit(status=303).follow()
    assert notice(page) == "Segment deleted."
    assert web.get("/api/admin/segments", headers=ADMIN).json["segments"] == []


def test_used_segment_is_not_deleted_and_its_flags_are_listed(ada, web, flags):
    id = flags.create_segment("beta")
    flags.create_flag()
    flags.add_strategy(segments=[id])
    page = ada.get(f"{LIST}/{id}/delete")
    link = page.html.find("main").find("a", string="checkout in production")
    assert link["href"] == "/admin/features/checkout"
    assert not page.html.find("button", class_="danger")
    page = ada.post(f"{LIST}/{id}/delete", {"csrf": ada.csrf}, status=409)
    assert "sed by checkout" in alert(page)
    assert page.html.find("main").find("a", string="checkout in production")
    assert get(web, id)["name"] == "beta"


def test_a_segment_of_a_default_strategy_is_not_deleted(ada, web, flags):
    id = flags.create_segment("beta")
    path = "/projects/default/environments/production/default-strategy"
    body = {"name": "flexibleRollout", "segments": [id]}
    web.post_json(f"/api/admin{path}", body, headers=ADMIN)
    page = ada.get(f"{LIST}/{id}/delete")
    link = page.html.find("main").find("a", string="default strategy of default in production")
    assert link["href"] == f"/admin{path}"
    assert not page.html.find("button", class_="danger")


def test_hostile_text_comes_back_as_text(ada, web):
    for text in HOSTILE:
        fields = {
            "csrf": ada.csrf,
            "name": text,
            "description": text,
            "constraints.0.contextName": text,
            "constraints.0.operator": text,
            "constraints.0.values": text,
        }
        page = ada.post(NEW, fields, status=400)
        assert faults(page) == []
        form = form_to(page, NEW)
        assert (form["name"].value, form["constraints.0.contextName"].value) == (text, text)
        assert form["constraints.0.values"].value.lstrip("\n") == text

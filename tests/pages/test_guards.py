"""Authentication and permissions of every page and form: roles, CSRF, other sites."""

from __future__ import annotations

import re
from urllib.parse import quote, unquote

import pytest
import webtest

from sigservice.repository.system.events import EventFilter, list_newest
from sigservice.routes import find_routers
from tests.pages.guards import (
    ADMIN_FORMS,
    ADMIN_PAGES,
    ARCHIVED_ONLY,
    EDIT_FORMS,
    EDIT_PAGES,
    FOREIGN,
    FORMS,
    JSON_PATHS,
    LEFT_AT,
    MOVED_PAGES,
    OPEN,
    PAGES,
    UNCHANGING,
    VIEW_PAGES,
    at,
)
from tests.pages.page_reader import alert, create_own_token, form_to, heading, is_page, sign_in
from tests.samples import sample
from tests.services.system.test_event_sentences import list_flaws


def test_the_tables_name_every_page_and_form(service):
    routes = set()
    for route in (one for router in find_routers() for one in router.bind(service.context)):
        rule = re.sub(r"<(\w+)(:id|:path)?>", r"{\1}", route.rule)
        if not rule.startswith(JSON_PATHS):
            routes.add((route.method, rule))
    expected = (
        {("GET", path) for path in PAGES + MOVED_PAGES} | {("POST", path) for path in FORMS} | OPEN
    )
    assert routes - {("GET", path) for path in LEFT_AT} == expected


def test_signed_out_users_are_redirected_to_sign_in_and_back(place, web):
    for path in PAGES:
        path = at(path, place)
        answer = web.get(f"{path}?query=a%20b%26c", status=303)
        where, _, target = answer.headers["Location"].partition("?next=")
        assert where.endswith("/sign-in")
        path_with_query = "/" if path == "/" else f"{path}?query=a%20b%26c"
        assert unquote(target) == ("" if path == "/" else path_with_query)
        assert answer.follow().form["next"].value == path_with_query


def test_unknown_session_ids_are_rejected(place, web):
    headers = {"Cookie": "service-session=" + "A" * 43}
    for path in PAGES:
        answer = web.get(at(path, place), headers=headers, status=303)
        assert "/sign-in" in answer.headers["Location"], path


def test_form_without_a_session_changes_nothing_and_its_page_follows_the_sign_in(
    place, web, read_state
):
    before = read_state()
    for path, fields in FORMS.items():
        answer = web.post(at(path, place), fields, status=303)
        has_page = path in PAGES or path in LEFT_AT
        target = f"?next={quote(at(path, place), safe='')}" if has_page else ""
        target = "?done=signed-out" if path == "/logout" else target
        assert answer.headers["Location"].endswith(f"/sign-in{target}"), path
    assert read_state() == before


@pytest.mark.parametrize(
    ("name", "pages"), [("ed", ADMIN_PAGES), ("vera", ADMIN_PAGES + EDIT_PAGES)]
)
def test_pages_beyond_the_role_are_forbidden(place, cast, name, pages):
    person = cast.signed_in(name)
    for path in pages:
        answer = person.get(at(path, place), status=403)
        assert is_page(answer), path
        assert heading(answer).startswith("403: You don't have permission to do this.")
        assert "deploys" not in answer.text


@pytest.mark.parametrize(
    ("name", "pages"),
    [("ada", PAGES), ("ed", VIEW_PAGES + EDIT_PAGES), ("vera", VIEW_PAGES)],
)
def test_pages_of_the_role_are_allowed(place, cast, name, pages):
    person = cast.signed_in(name)
    for path in pages:
        status = 303 if path.endswith("{name}/delete") else 200  # it is not archived
        person.get(at(path, place), status=status)


def test_pages_that_moved_lead_to_pages(place, ada):
    for path in MOVED_PAGES:
        assert is_page(ada.get(at(path, place), status=301).follow()), path


@pytest.mark.parametrize(
    ("name", "forms"), [("ed", ADMIN_FORMS), ("vera", ADMIN_FORMS | EDIT_FORMS)]
)
def test_forms_beyond_the_own_role_change_nothing(place, cast, read_state, name, forms):
    person = cast.signed_in(name)
    before = read_state()
    for path, fields in forms.items():
        answer = person.post(at(path, place), fields | {"csrf": person.csrf}, status=403)
        assert is_page(answer), path
    assert read_state() == before


def test_viewer_changes_no_project_and_no_context_field(place, cast, read_state):
    vera, before = cast.signed_in("vera"), read_state()
    for path in EDIT_PAGES:
        assert is_page(vera.get(at(path, place), status=403)), path
    for path, fields in EDIT_FORMS.items():
        answer = vera.post(at(path, place), fields | {"csrf": vera.csrf}, status=403)
        assert is_page(answer), path
    assert read_state() == before


def test_form_without_the_right_csrf_token_changes_nothing(place, cast, ada, read_state):
    others = cast.signed_in("ada").csrf
    before = read_state()
    for path, fields in FORMS.items():
        for csrf in ({}, {"csrf": ""}, {"csrf": "x"}, {"csrf": others}, {"csrf": ada.csrf + "é"}):
            if not fields | csrf:  # an empty body: a script signs out
                continue
            answer = ada.post(at(path, place), fields | csrf, status=403)
            assert is_page(answer), path
            assert "This form has expired" in answer.text, path
    assert read_state() == before
    ada.get("/profile", status=200)


def test_form_of_an_earlier_session_is_shown_again_with_what_was_entered(web):
    sign_in(web)
    path = "/admin/context/new"
    form = form_to(web.get(path), path)
    form["name"], form["description"] = "beta", "Typed for minutes"
    web.cookiejar.clear()
    sign_in(web)
    page = form.submit(status=403)
    assert "This form has expired, so nothing has changed." in alert(page)
    form = form_to(page, path)
    assert form["description"].value == "Typed for minutes"
    form.submit(status=303)
    assert "Typed for minutes" in web.get("/admin/context").text


def test_form_sent_by_another_site_changes_nothing(place, ada, read_state):
    before = read_state()
    for path, fields in FORMS.items():
        where, fields = at(path, place), fields | {"csrf": ada.csrf}
        for headers in FOREIGN:
            answer = ada.post(where, fields, headers=headers, status=403)
            assert "another site" in heading(answer), (path, headers)
    assert read_state() == before
    ada.get("/profile", status=200)


@pytest.mark.parametrize("path", FORMS)
def test_valid_form_of_the_same_site_is_accepted(service, place, ada, read_state, flags, path):
    if path in ARCHIVED_ONLY:
        flags.archive(place["name"])
    if path == "/profile/tokens/delete":
        place["own_token_id"] = create_own_token(ada)
    if path.endswith("/keep-off"):
        flags.switch(place["name"], to="off")
    before = read_state()
    fields = {name: text.format(**place) for name, text in FORMS[path].items()}
    fields |= {"csrf": ada.csrf}
    headers = {"Sec-Fetch-Site": "same-origin", "Origin": "http://localhost:80"}
    answer = ada.post(at(path, place), fields, headers=headers)
    assert answer.status_int in (200, 303)
    with service.context.database.autocommit() as conn:
        assert list_flaws(list_newest(conn, EventFilter(), limit=100)) == []
    is_unchanged = path in UNCHANGING
    assert (read_state() == before) is is_unchanged


@pytest.mark.parametrize(
    "other_id", sample([999_999, "9" * 23, 0, 2**31, 10**18, "9" * 19, "-1", "١"], 2)
)
def test_missing_object_is_a_404_page(place, ada, other_id):
    for path in PAGES:
        for part in place:
            if f"{{{part}}}" in path:
                where = quote(at(path, place, **{part: other_id}))
                assert is_page(ada.get(where, status=404)), where


def test_form_about_a_missing_object_is_a_404_page(place, ada, read_state):
    before = read_state()
    for path, fields in FORMS.items():
        for part in place:
            if f"{{{part}}}" in path:
                where = at(path, place, **{part: 999_999})
                answer = ada.post(where, fields | {"csrf": ada.csrf}, status=404)
                assert is_page(answer), where
    assert read_state() == before


@pytest.mark.parametrize("path", LEFT_AT)
def test_url_of_a_form_can_be_reloaded(place, ada, path):
    """Enter in the address bar, a restored tab, the way back after signing in again."""
    answer = ada.get(at(path, place), expect_errors=True)
    assert answer.status_int in (200, 303)


def test_token_of_another_endpoint_is_not_found(place, ada, make, read_state):
    other = make.endpoint("other")
    before = read_state()
    other_id = f"/admin/signals/{other['id']}/tokens/{place['token_id']}"
    fields = {"csrf": ada.csrf, "name": "mine"}
    ada.get(f"{other_id}/delete", status=404)
    ada.post(other_id, fields, status=404)
    ada.post(f"{other_id}/delete", fields, status=404)
    ada.get(f"/admin/signals/{other['id']}/log/{place['signal_id']}", status=404)
    assert read_state() == before


def test_wrong_method_is_a_405_page_with_allow(place, ada):
    answer = ada.get(f"/admin/signals/{place['id']}/off", status=405)
    assert answer.headers["Allow"] == "POST"
    assert is_page(answer)


def test_form_of_another_type_is_415(ada, read_state):
    before = read_state()
    body = f"csrf={ada.csrf}&name=x&token=later".encode()
    for kind in ("multipart/form-data; boundary=x", "text/plain", ""):
        assert is_page(ada.post("/admin/signals/new", body, content_type=kind, status=415)), kind
    assert read_state() == before


def test_oversized_form_is_413(ada, read_state):
    before = read_state()
    fields = {"csrf": ada.csrf, "name": "x", "description": "d" * 70_000}
    assert is_page(ada.post("/admin/signals/new", fields, status=413))
    assert read_state() == before


def test_form_that_is_no_text_is_400(ada, read_state):
    before = read_state()
    kind = "application/x-www-form-urlencoded"
    for body in ("name=%FF", "name=%00", "name=%ED%A0%80", "&".join(["a=b"] * 201)):
        whole = f"csrf={ada.csrf}&{body}"
        answer = ada.post("/admin/signals/new", whole, content_type=kind, status=400)
        assert is_page(answer), body
    assert read_state() == before


def test_unknown_address_is_a_404_page(web):
    for address in ("/nowhere", "/admin", "/admin/signals/x", "/profile/x", "/sign-in/x"):
        answer = web.get(address, status=404)
        assert is_page(answer), address
        assert heading(answer) == "404: Page not found."


def test_error_page_keeps_the_navigation_of_the_user(ada, vera):
    for person, address in ((ada, "/admin/signals/999999"), (vera, "/admin/signals")):
        page = person.get(address, expect_errors=True)
        assert page.html.find("nav", attrs={"aria-label": "Main"})


def test_pages_are_neither_cached_nor_framed(place, ada):
    for path in PAGES:
        headers = ada.get(at(path, place)).headers
        assert headers["Cache-Control"] == "no-store"
        assert headers["X-Frame-Options"] == "SAMEORIGIN"
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "no-referrer"
        policy = headers["Content-Security-Policy"]
        assert "unsafe-inline" not in policy
        assert "frame-ancestors 'none';" in policy
        assert "base-uri 'none';" in policy
        assert "script-src 'self';" in policy


def test_admin_token_gives_no_access_to_pages(place, web: webtest.TestApp):
    answer = web.get("/", headers={"Authorization": "Bearer *:*.test-admin-token"}, status=303)
    assert "/sign-in" in answer.headers["Location"]

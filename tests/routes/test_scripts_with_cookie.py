"""Scripts that keep a session cookie: their JSON needs no form token, a browser page's does."""

from __future__ import annotations

import pytest
import webtest

from tests.routes.kit import FOREIGN, JSON, OWN_PAGE

SEGMENTS = "/api/admin/segments"
SEGMENT = {"name": "s", "constraints": []}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
PAGES = (*FOREIGN, OWN_PAGE, {"Sec-Fetch-Site": "same-origin"}, {"Sec-Fetch-Site": "none"})


@pytest.fixture
def script(service):
    """Signed in by JSON; it keeps the cookie and forgets the token."""
    web = webtest.TestApp(service.app)
    web.post_json("/auth/simple/login", {"username": "ada", "password": "Correct-Horse-7"})
    return web


def is_signed_in(web):
    return web.get("/api/admin/user", expect_errors=True).status_int == 200


@pytest.mark.parametrize("content_type", ["application/json", "application/x.flags+json;v=1"])
def test_json_needs_no_form_token(script, content_type):
    headers = {"Content-Type": content_type}
    script.post(SEGMENTS, b'{"name": "s", "constraints": []}', headers=headers, status=201)


def test_methods_that_no_form_has_need_no_form_token(script):
    segment = script.post_json(SEGMENTS, SEGMENT, status=201).json
    script.put_json(f"{SEGMENTS}/{segment['id']}", {"name": "t", "constraints": []}, status=204)
    script.delete(f"{SEGMENTS}/{segment['id']}", status=204)


@pytest.mark.parametrize("headers", PAGES, ids=str)
@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_what_a_browser_page_sends_needs_the_form_token(script, method, headers):
    answer = script.request(
        SEGMENTS + ("" if method == "POST" else "/1"),
        method=method,
        body=b'{"name": "s", "constraints": []}',
        headers=headers | JSON,
        expect_errors=True,
    )
    expected = {405} if method == "PATCH" else {403}  # there is none
    assert answer.status_int in expected
    assert script.get(SEGMENTS).json["segments"] == []


@pytest.mark.parametrize("headers", [{}, FORM, {"Content-Type": "text/plain"}], ids=str)
def test_post_that_an_old_browser_could_send_needs_the_form_token(script, headers):
    script.post(SEGMENTS, b'{"name": "s"}', headers={"Content-Type": "", **headers}, status=403)


def test_wrong_form_token_is_refused_from_a_script_too(script):
    script.post_json(SEGMENTS, SEGMENT, headers={"X-CSRF-Token": "x"}, status=403)


def test_script_signs_out_by_json(script):
    script.post_json("/logout", {}, status=303)
    assert not is_signed_in(script)


@pytest.mark.parametrize("headers", PAGES, ids=str)
def test_page_does_not_sign_out_by_json_without_the_form_token(script, headers):
    assert script.post_json("/logout", {}, headers=headers, expect_errors=True).status_int >= 400
    assert is_signed_in(script)


@pytest.mark.parametrize("headers", [{"Content-Type": ""}, FORM], ids=str)
def test_script_signs_out_without_a_body(script, headers):
    script.post("/logout", headers=headers, status=303)
    assert not is_signed_in(script)


@pytest.mark.parametrize("headers", [*PAGES, {"X-CSRF-Token": "x"}], ids=str)
def test_page_does_not_sign_out_without_a_body_and_form_token(script, headers):
    script.post("/logout", headers=headers, status=403)
    assert is_signed_in(script)


def test_form_without_the_form_token_does_not_sign_out(script):
    script.post("/logout", {"a": "b"}, status=403)
    assert is_signed_in(script)


def test_other_pages_need_a_form_token_without_a_body_too(script):
    script.post("/profile/password", status=403)


def test_other_pages_take_forms_only(script):
    script.post_json("/profile/password", {}, status=415)

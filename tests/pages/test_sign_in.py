"""The sign-in form: valid and failed sign-ins, and the redirect after it."""

from __future__ import annotations

import webtest

from tests.conftest import ADMIN, Cast
from tests.pages.page_reader import alert, heading, is_page, notice, sign_in

WRONG = "Wrong username or password."
FOREIGN = (
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Origin": "https://evil.example"},
)


def is_signed_in(web: webtest.TestApp) -> bool:
    return web.get("/profile", expect_errors=True).status_int == 200


def test_form_has_labels_and_autocomplete_tokens(web):
    form = web.get("/sign-in").html.find("form")
    for field, autocomplete in (("username", "username"), ("password", "current-password")):
        control = form.find(id=field)
        assert control["autocomplete"] == autocomplete
        assert control.has_attr("required")
        assert form.find("label", attrs={"for": field}).get_text()
    assert form.find(id="password")["type"] == "password"


def test_sign_in_redirects_to_the_home_page(web, read_api):
    answer = sign_in(web)
    assert answer.headers["Location"].endswith("/")
    page = answer.follow()
    assert heading(page) == "Start here"
    assert page.html.find(class_="account").a["title"] == "ada"
    assert read_api("user-admin")["users"][0]["seenAt"]


def test_sign_in_accepts_username_and_email_in_any_case(web):
    body = {"email": "Eva@Example.org", "rootRole": "Viewer", "password": Cast.PASSWORD}
    web.post_json("/api/admin/user-admin", body, headers=ADMIN)
    for name in ("ADA", "eva@example.org"):
        web.reset()
        sign_in(web, name)
        assert is_signed_in(web)


def test_unknown_login_and_wrong_password_get_the_same_message(web):
    for name, password in (
        ("ada", "wrong"),
        ("ada", ""),
        ("nobody", "wrong"),
        ("", ""),
        ("ada'--", Cast.PASSWORD),
        ("ada", Cast.PASSWORD + " "),
        ("x" * 5000, "y" * 5000),
        ("ada", "\U0001f600" * 2000),
    ):
        page = sign_in(web, name, password, status=401)
        assert is_page(page)
        assert alert(page) == WRONG
        assert page.html.find(id="username-problem").get_text() == WRONG
        assert page.html.find(id="username")["aria-invalid"] == "true"
        assert page.form["username"].value == name
        assert page.form["password"].value == ""
        assert not any("service-session=" in c for c in page.headers.getall("Set-Cookie"))
        assert not is_signed_in(web)


def test_title_says_that_there_is_a_problem(web):
    assert sign_in(web, password="x", status=401).html.title.string.startswith("Problem: ")


def test_user_without_a_password_can_not_sign_in(web):
    web.post_json("/api/admin/user-admin", {"username": "new"}, headers=ADMIN)
    sign_in(web, "new", "", status=401)
    sign_in(web, "new", "x", status=401)


def test_form_works_after_a_failed_attempt(web):
    page = sign_in(web, password="wrong", path="/sign-in?next=/profile", status=401)
    page.form["password"] = Cast.PASSWORD
    assert page.form.submit(status=303).headers["Location"].endswith("/profile")


def test_signed_in_user_is_redirected(web):
    sign_in(web)
    assert web.get("/sign-in", status=303).headers["Location"].endswith("/")
    there = web.get("/sign-in?next=/profile", status=303).headers["Location"]
    assert there.endswith("/profile")


def test_form_of_a_second_tab_leads_on_when_the_first_has_signed_in(web):
    second = web.get("/sign-in?next=/admin/segments").form
    sign_in(web)
    session_id = web.cookies["service-session"]
    second["username"], second["password"] = "ada", Cast.PASSWORD
    answer = second.submit(status=303)
    assert answer.headers["Location"].endswith("/admin/segments")
    assert web.cookies["service-session"] == session_id


def test_sign_in_page_confirms_the_sign_out(web):
    assert notice(web.get("/sign-in?done=signed-out")) == "You have signed out."
    assert notice(web.get("/sign-in?done=<script>")) == ""


def test_form_without_its_token_is_403(web):
    web.get("/sign-in")
    fields = {"username": "ada", "password": Cast.PASSWORD}
    for csrf in ({}, {"csrf": ""}, {"csrf": "x"}):
        assert is_page(web.post("/sign-in", fields | csrf, status=403))
        assert not is_signed_in(web)


def test_form_without_its_cookie_is_403_and_says_why(web):
    form = web.get("/sign-in").form
    fields = {"username": "ada", "password": Cast.PASSWORD, "csrf": form["csrf"].value}
    web.reset()
    answer = web.post("/sign-in", fields, status=403)
    assert "cookie" in heading(answer)
    assert not is_signed_in(web)


def test_form_token_of_another_browser_is_403(web, service):
    other = webtest.TestApp(service.app).get("/sign-in").form["csrf"].value
    web.get("/sign-in")
    fields = {"username": "ada", "password": Cast.PASSWORD, "csrf": other}
    web.post("/sign-in", fields, status=403)
    assert not is_signed_in(web)


def test_form_sent_by_another_site_is_403(web):
    form = web.get("/sign-in").form
    form["username"], form["password"] = "ada", Cast.PASSWORD
    for headers in FOREIGN:
        assert is_page(form.submit(headers=headers, status=403)), headers
        assert not is_signed_in(web)


def test_form_over_plain_http_comes_with_the_origin_null(web):
    form = web.get("/sign-in").form
    form["username"], form["password"] = "ada", Cast.PASSWORD
    token, form["csrf"] = form["csrf"].value, "made up"
    assert is_page(form.submit(headers={"Origin": "null"}, status=403))
    form["csrf"] = token
    form.submit(headers={"Origin": "null"}, status=303)
    assert is_signed_in(web)
    web.post("/logout", {"csrf": "made up"}, headers={"Origin": "null"}, status=403)
    assert is_signed_in(web)


def test_next_redirects_to_own_pages_only(web, clock):
    for target in (
        "https://evil.example",
        "//evil.example",
        "///evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "/\t/evil.example",
        "/\n/evil.example",
        "/\r\nSet-Cookie: a=b",
        "http:evil.example",
        "javascript:alert(1)",
        " /admin",
        "evil.example",
        "/\u2028/evil.example",
        "@evil.example",
        "",
    ):
        web.reset()
        clock.advance(60)
        form = web.get("/sign-in", {"next": target}).form
        assert form["next"].value == "/", target
        form["username"], form["password"], form["next"] = "ada", Cast.PASSWORD, target
        there = form.submit(status=303).headers["Location"]
        assert there.removeprefix("http://localhost:80") == "/", target
        there = web.get("/sign-in", {"next": target}, status=303).headers["Location"]
        assert there.removeprefix("http://localhost:80") == "/", target


def test_next_keeps_query_and_letters_of_any_kind(web):
    target = "/admin/signals/1/log?query=a%20b%26é&token=2"
    form = web.get("/sign-in", {"next": target}).form
    form["username"], form["password"] = "ada", Cast.PASSWORD
    there = form.submit(status=303).headers["Location"]
    assert there.endswith("/admin/signals/1/log?query=a%20b%26%C3%A9&token=2")


def test_ten_sign_ins_a_minute_then_429(web, clock):
    for n in range(10):
        sign_in(web, "nobody" if n % 2 else "ada", "wrong", status=401)
    page = sign_in(web, status=429)
    assert is_page(page)
    assert int(page.headers["Retry-After"]) >= 1
    assert "Too many requests" in heading(page)
    assert not is_signed_in(web)
    clock.advance(60)
    sign_in(web)
    assert is_signed_in(web)


def test_form_and_json_share_one_limit(web):
    for _ in range(10):
        web.post_json("/auth/simple", {"username": "ada", "password": "x"}, status=401)
    sign_in(web, status=429)


def test_looking_at_the_form_is_not_limited(web):
    for _ in range(30):
        web.get("/sign-in", status=200)


def test_invalid_form_cookie_is_replaced(web):
    for value in ("a\\b", '"quoted"', "é", "", "x" * 3900):
        headers = {"Cookie": f"service-session-form={value}".encode().decode("latin-1")}
        assert web.get("/sign-in", headers=headers, status=200).form["csrf"].value


def test_form_token_is_not_the_cookie(web):
    page = web.get("/sign-in")
    cookie = page.headers["Set-Cookie"].split("=", 1)[1].split(";")[0]
    assert len(cookie) >= 43
    assert cookie not in page.text

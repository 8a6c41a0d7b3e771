"""The pages of each authentication type; without passwords, no page asks for one."""

from __future__ import annotations

import pytest
import webtest

from tests.conftest import ADMIN
from tests.pages.page_reader import alert, find_error, is_page


@pytest.fixture
def browser(make_service):
    def make(kind, **more):
        admin = {"username": "ada", "password": "Correct-Horse-7"}
        block = {"type": kind, "initialAdminUser": admin, "demoAllowAdminLogin": kind == "demo"}
        return webtest.TestApp(
            make_service(
                {"authentication": block | more}, {"INIT_ADMIN_API_TOKENS": "*:*.test-admin-token"}
            ).app
        )

    return make


def test_demo_asks_for_an_email_and_redirects(browser):
    web = browser("demo")
    page = web.get("/admin/segments", status=303).follow()
    form = page.form
    assert not page.html.find(type="password")
    assert page.html.find("label", attrs={"for": "email"}).text == "Email"
    form["email"] = "nobody"
    error_page = form.submit(status=400)
    assert find_error(error_page, "email") == "Enter a valid email address."
    assert error_page.form["email"].value == "nobody"
    for headers in ({"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://evil.example"}):
        assert is_page(form.submit(headers=headers, status=403))
    web.post("/sign-in", {"email": "eve@b", "csrf": "x"}, status=403)
    error_page.form["email"] = "eve@b"
    done = error_page.form.submit(status=303)
    assert done.headers["Location"].endswith("/admin/segments")
    assert done.follow().html.find(class_="account").a["title"] == "eve@b"


def test_there_are_no_password_fields_without_passwords(browser):
    web = browser("demo")
    form = web.get("/sign-in").form
    form["email"] = "admin"
    form.submit(status=303)
    me = web.get("/api/admin/user").json["user"]["id"]
    for path in ("/profile", "/admin/users/new", f"/admin/users/{me}"):
        page = web.get(path)
        assert not page.html.find(type="password"), path
        assert "without a password" in page.text, path
    new = web.get("/admin/users/new").forms
    form = next(form for form in new.values() if "rootRole" in form.fields)
    form["username"] = "vera"
    form.submit(status=303)
    users = web.get("/api/admin/user-admin", headers=ADMIN).json["users"]
    assert {user["username"] for user in users} == {"ada", "vera"}
    config = web.get("/api/admin/ui-config", headers=ADMIN).json
    assert (config["authenticationType"], config["disablePasswordAuth"]) == ("demo", True)
    assert not web.get("/api/admin/user/profile").json["canChangePassword"]


def test_none_has_a_banner_on_each_page_and_no_account(browser):
    web = browser("none")
    assert web.get("/sign-in?next=/admin/events", status=303).headers["Location"].endswith("events")
    web.post("/sign-in", {"username": "ada"}, status=303)
    for path in ("/", "/admin/features", "/admin/users/new", "/profile", "/docs"):
        page = web.get(path)
        assert alert(page).startswith("Authentication is off"), path
        assert page.html.find(class_="account") is None
        assert not page.html.find(type="password"), path


def test_custom_without_a_sign_in_path_says_so(browser):
    web = browser("custom", customAuthHandler=lambda app, config: None)
    page = web.get("/", status=303).follow()
    assert "handled by your reverse proxy" in page.text
    assert not page.html.find("form")


def test_there_are_no_reset_links_without_passwords(browser):
    web = browser("demo")
    users = "/api/admin/user-admin"
    user = web.post_json(users, {"email": "v@example.org"}, headers=ADMIN, status=201).json
    assert (user["inviteLink"], user["emailSent"]) == ("http://localhost:80", False)
    for path in ("/forgot-password", "/reset-password?token=x", "/new-user?token=x"):
        assert is_page(web.get(path, status=422))
    web.get("/auth/reset/validate?token=x", status=422)
    for path, body in (
        (f"{users}/reset-password", {"id": "v@example.org"}),
        ("/auth/reset/password-email", {"email": "v@example.org"}),
        ("/auth/reset/password", {"token": "x", "password": "Correct-Horse-8"}),
    ):
        refused = web.post_json(path, body, headers=ADMIN, status=422).json
        assert refused["name"] == "DisabledError"

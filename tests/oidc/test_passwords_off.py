"""Passwords are off: only the provider signs users in, except break-glass accounts."""

from __future__ import annotations

import pytest

from sigservice.services.database_risks import find_start_risks
from tests.conftest import ADMIN, Cast
from tests.oidc.conftest import Site, find_login

PASSWORD = Cast.PASSWORD
OFF = {"SERVICE_PASSWORD_SIGN_IN": "false", "SERVICE_OIDC_CREATE_USERS": "true"}
BREAK_GLASS = OFF | {"SERVICE_BREAK_GLASS_USERS": "ADA"}


@pytest.fixture
def before(make_site) -> Site:
    """The same installation while passwords are on, with the users Ada, Ed and Vera."""
    site = make_site()
    Cast(site.service)
    return site


def sign_in(site: Site, login: str, status: int):
    web = site.browser()
    return web, web.post_json(
        "/auth/simple", {"username": login, "password": PASSWORD}, status=status
    )


def test_sign_in_page_has_the_button_alone(before, make_site):
    page = make_site(**OFF).web.get("/sign-in")
    assert page.html.find("a", string="Sign in with Keycloak")
    assert not page.html.find("form")
    assert "password" not in page.text.lower()


def test_password_is_refused_before_any_hashing(before, make_site, monkeypatch):
    site = make_site(**OFF)
    monkeypatch.setattr(site.service.context.passwords, "admit", None)
    _, answer = sign_in(site, "ada", 422)
    assert answer.json["name"] == "DisabledError"


def test_break_glass_account_signs_in_by_a_link_to_the_form(before, make_site):
    site = make_site(**BREAK_GLASS)
    page = site.web.get("/sign-in")
    assert not page.html.find("form")
    page = page.click("Sign in with a password")
    page.form["username"], page.form["password"] = "ada", PASSWORD
    page.form.submit(status=303)
    assert find_login(site.web) == "ada"
    event = site.events("user-signed-in")[-1]
    assert event["data"]["breakGlass"] is True
    assert any("break-glass account ada signed in" in line for line in site.log.lines)


def test_others_get_the_answer_of_a_wrong_password(before, make_site):
    site = make_site(**BREAK_GLASS)
    answers = [sign_in(site, login, 401)[1].json for login in ("ed", "nobody")]
    assert [answer["message"] for answer in answers] == ["Wrong username or password."] * 2
    assert [answer["name"] for answer in answers] == ["PasswordMismatch"] * 2


def test_sessions_that_were_opened_by_password_end(before, make_site):
    sessions = {login: sign_in(before, login, 200)[0] for login in ("ada", "ed")}
    site = make_site(**BREAK_GLASS)
    for web in sessions.values():
        web.app = site.service.app
    assert find_login(sessions["ada"]) == "ada"
    assert find_login(sessions["ed"]) is None


def test_links_that_set_a_password_are_for_break_glass_accounts_only(before, make_site):
    def create_link(site, login, status=200):
        path = "/api/admin/user-admin/reset-password"
        return site.web.post_json(path, {"id": login}, headers=ADMIN, status=status).json

    tokens = {
        login: create_link(before, login)["resetPasswordUrl"].rpartition("=")[2]
        for login in ("ada", "ed")
    }
    site = make_site(**BREAK_GLASS)
    for login, status in (("ed", 422), ("ada", 200)):
        token = tokens[login]
        site.web.get(f"/auth/reset/validate?token={token}", status=status)
        site.web.get(f"/reset-password?token={token}", status=status)
        body = {"token": token, "password": "Other-Horse-77"}
        site.web.post_json("/auth/reset/password", body, status=status)
        create_link(site, login, status)
    id = site.users()["ed"]["id"]
    path = f"/api/admin/user-admin/{id}/change-password"
    site.web.post_json(path, {"password": "Other-Horse-77"}, headers=ADMIN, status=422)


def test_admins_see_no_password_fields_of_others(before, make_site):
    site = make_site(**BREAK_GLASS)
    web, answer = sign_in(site, "ada", 200)
    users = {name: user["id"] for name, user in site.users().items()}
    for path, has_field in (
        ("/admin/users/new", False),
        (f"/admin/users/{users['ed']}", False),
        (f"/admin/users/{users['ada']}", True),
        ("/profile", True),
    ):
        page = web.get(path)
        assert bool(page.html.find(type="password")) is has_field, path
    csrf = answer.json["csrfToken"]
    form = {"csrf": csrf, "password": "Other-Horse-77"}
    web.post(f"/admin/users/{users['ed']}/password", form, status=422)
    web.post(f"/admin/users/{users['ed']}/link", {"csrf": csrf}, status=422)


def test_new_user_gets_no_invite_link(before, make_site):
    site = make_site(**OFF)
    body = {"email": "bo@example.org"}
    user = site.web.post_json("/api/admin/user-admin", body, headers=ADMIN).json
    assert (user["inviteLink"], user["emailSent"]) == ("http://localhost", False)


def test_user_of_the_provider_cannot_change_a_password(make_site):
    site = make_site(**OFF)
    web = site.browser()
    site.sign_in(web)
    assert not web.get("/api/admin/user/profile").json["canChangePassword"]
    assert "Users sign in with Keycloak" in web.get("/profile").text
    body = {"password": PASSWORD, "confirmPassword": PASSWORD, "oldPassword": "x"}
    csrf = web.get("/api/admin/user").json["csrfToken"]
    headers = {"X-CSRF-Token": csrf}
    web.post_json("/api/admin/user/change-password", body, headers=headers, status=422)


def test_first_start_creates_the_admin_only_as_a_break_glass_account(make_site):
    assert make_site(**OFF).users() == {}
    assert set(make_site(**BREAK_GLASS).users()) == {"ada"}


def test_api_says_how_users_sign_in(before, make_site):
    site = make_site(**OFF)
    error = site.web.get("/api/admin/projects", status=401).json
    assert error["options"] == [
        {"type": "oidc", "message": "Sign in with Keycloak", "path": "/auth/oidc"}
    ]
    assert (error["type"], error["path"]) == ("password", "/auth/simple/login")
    assert error["defaultHidden"] is True
    assert before.web.get("/api/admin/projects", status=401).json["defaultHidden"] is False
    config = site.web.get("/api/admin/ui-config", headers=ADMIN).json
    assert (config["disablePasswordAuth"], config["oidcConfiguredThroughEnv"]) == (True, True)
    statistics = site.web.get("/api/admin/instance-admin/statistics", headers=ADMIN).json
    assert statistics["OIDCenabled"] is True


def test_risks_of_break_glass_accounts_are_found_in_the_database(before, make_site):
    before.create_user(username="bo")
    site = make_site(**OFF, SERVICE_BREAK_GLASS_USERS="ada,ed,bo,nobody")
    with site.service.context.database.transaction() as conn:
        risks = find_start_risks(conn, site.service.config)
    texts = [r.message for r in risks if r.option == "authentication.breakGlassUsers"]
    assert texts == [
        "The break-glass account nobody doesn't exist.",
        "The break-glass account bo has no password.",
        "The break-glass account bo is not an admin.",
        "The break-glass account ed is not an admin.",
    ]


def test_mailbox_is_no_second_way_in_for_users_of_the_provider(make_site, clock):
    site = make_site(SERVICE_OIDC_CREATE_USERS="true", EMAIL_HOST="localhost")
    site.sign_in()
    for address in ("eva@example.org", "bo@example.org"):
        if address.startswith("bo"):
            site.create_user(email=address, sendEmail=False)
        site.web.post_json("/auth/reset/password-email", {"email": address}, status=200)
        clock.advance(60)
    requests = site.events("password-reset-requested")
    assert [event["data"]["username"] for event in requests] == ["bo@example.org"]

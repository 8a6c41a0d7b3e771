"""Links to set a password, by JSON: asked for, checked, used once."""

from __future__ import annotations

import pytest
import webtest

from tests.conftest import ADMIN, Cast
from tests.routes.kit import race_for_statuses

USERS = "/api/admin/user-admin"
RESET = "/auth/reset"
DAY = 24 * 3600
GOOD = "New-Horse-Staple-8"


@pytest.fixture
def link(web):
    """`link("ed")`: the token of a link that an admin has handed out."""

    def make(login):
        answer = web.post_json(f"{USERS}/reset-password", {"id": login}, headers=ADMIN)
        return answer.json["resetPasswordUrl"].partition("?token=")[2]

    return make


def validate(web, token, status=200):
    return web.get(f"{RESET}/validate?token={token}", status=status).json


def set_password(web, token, password=GOOD, status=200):
    return web.post_json(f"{RESET}/password", {"token": token, "password": password}, status=status)


def sign_in(web, name, password, status=200):
    web.post_json("/auth/simple/login", {"username": name, "password": password}, status=status)


def test_a_link_sets_a_password_once(cast, web, link, service):
    ed, token = cast.signed_in("ed"), link("ed")
    ed_id = ed.get("/api/admin/user").json["user"]["id"]
    role = {"id": 2, "name": "Editor", "type": "root"}
    link = validate(web, token)
    assert link.pop("role").items() >= role.items()
    assert link == {
        "id": ed_id,
        "name": None,
        "email": None,
        "token": token,
        "createdBy": "admin",
    }
    weak = set_password(web, token, "weak", status=400).json
    assert (weak["name"], weak["details"][0]["path"]) == ("OwaspValidationError", "password")
    assert set_password(web, token).body == b""
    ed.get("/api/admin/user", status=401)
    sign_in(web, "ed", Cast.PASSWORD, status=401)
    sign_in(web, "ed", GOOD)
    assert validate(web, token, status=403)["name"] == "UsedTokenError"
    assert set_password(web, token, status=403).json["name"] == "UsedTokenError"
    for made_up in ("", "x", "A" * 43, "%C3%A9"):
        assert validate(web, made_up, status=401)["name"] == "InvalidTokenError"
    assert set_password(web, "A" * 43, status=401).json["name"] == "InvalidTokenError"
    events = web.get("/api/admin/events", headers=ADMIN)
    ours = ("user-updated", "password-link-created")
    password_event, user = [event for event in events.json["events"] if event["type"] in ours][:2]
    assert (password_event["type"], password_event["createdBy"]) == ("user-updated", "ed")
    assert password_event["data"]["password"] == "changed"
    assert (user["type"], user["data"]) == (
        "password-link-created",
        {"id": ed_id, "username": "ed"},
    )
    assert token not in events.text
    assert GOOD not in events.text


def test_a_link_expires_after_a_day(cast, web, link, clock):
    token = link("ed")
    clock.advance(DAY - 1)
    validate(web, token)
    clock.advance(1)
    validate(web, token, status=401)
    assert set_password(web, token, status=401).json["name"] == "InvalidTokenError"
    sign_in(web, "ed", Cast.PASSWORD)


def test_a_new_link_or_password_invalidates_older_links(cast, web, link):
    first, vera = link("ed"), link("vera")
    second = link("ed")
    validate(web, first, status=401)
    id = validate(web, second)["id"]
    web.post_json(f"{USERS}/{id}/change-password", {"password": GOOD}, headers=ADMIN)
    validate(web, second, status=401)
    validate(web, vera)


def test_only_one_of_two_concurrent_uses_succeeds(cast, web, link, service):
    token = link("ed")

    def ask(racer, n):
        body = {"token": token, "password": f"{GOOD}{n}"}
        return racer.post_json(f"{RESET}/password", body, expect_errors=True)

    assert race_for_statuses(service, 2, ask) == [200, 403]


def test_the_last_five_passwords_do_not_come_back(cast, web, link):
    former_passwords = [Cast.PASSWORD, *(f"{GOOD}{n}" for n in range(5))]
    for password in former_passwords[1:]:
        set_password(web, link("ed"), password)
    for password in former_passwords[1:]:
        refused = set_password(web, link("ed"), password, status=400).json
        assert refused["name"] == "PasswordPreviouslyUsedError"
        assert refused["details"][0]["path"] == "password"
    web.reset()
    body = {"username": "ed", "password": former_passwords[-1]}
    csrf = web.post_json("/auth/simple/login", body).json["csrfToken"]
    for password, status in ((former_passwords[2], 400), (former_passwords[0], 200)):
        body = {
            "oldPassword": former_passwords[-1],
            "password": password,
            "confirmPassword": password,
        }
        path = "/api/admin/user/change-password"
        web.post_json(path, body, headers={"X-CSRF-Token": csrf}, status=status)
    web.reset()
    set_password(web, link("ed"), former_passwords[1])  # six ago


def test_reset_links_are_for_users_only(cast, web, link):
    user = web.post_json(USERS, {"email": "Cy@example.com"}, headers=ADMIN).json
    assert user["emailSent"] is False
    assert user["inviteLink"].startswith("http://localhost:80/new-user?token=")
    for login in ("cy@example.com", user["id"], "ED"):
        assert len(link(login)) == 43
    web.post_json("/api/admin/service-account", {"username": "robot"}, headers=ADMIN)
    for login in ("nobody", "", "robot", 0, -1, 2**40, "a\u0000"):
        body = {"id": login}
        status = 400 if login == "a\u0000" else 404
        web.post_json(f"{USERS}/reset-password", body, headers=ADMIN, status=status)
    web.post_json(f"{USERS}/reset-password", {}, headers=ADMIN, status=400)
    vera = cast.signed_in("vera")
    headers = {"X-CSRF-Token": vera.csrf}
    vera.post_json(f"{USERS}/reset-password", {"id": "ada"}, headers=headers, status=403)


def test_an_invitation_has_a_link(web):
    user = web.post_json(USERS, {"username": "bo"}, headers=ADMIN, status=201).json
    sign_in(web, "bo", GOOD, status=401)
    set_password(web, user["inviteLink"].partition("=")[2])
    sign_in(web, "bo", GOOD)
    row = web.get(f"{USERS}/{user['id']}", headers=ADMIN).json
    assert "inviteLink" not in row


@pytest.mark.parametrize("environ", [{}, {"PASSWORD_RESET_LIMIT_PER_MINUTE": "3"}])
def test_link_requests_are_limited_by_address(make_service, environ, clock):
    web = webtest.TestApp(make_service(environ=environ).app)
    path, amount = f"{RESET}/password-email", int(next(iter(environ.values()), 1))
    body = {"email": "a@example.com"}
    for n in range(amount):
        answer = web.post_json(path, body)
        assert answer.headers["RateLimit-Remaining"] == str(amount - n - 1)
    forged = {"X-Forwarded-For": "10.0.0.9"}
    refused = web.post_json(path, body, headers=forged, status=429)
    assert refused.headers["Retry-After"] == str(60 // amount)
    assert refused.json["name"] == "RateLimitError"
    web.post("/forgot-password", status=429)  # one limit for both
    web.post_json(path, body, extra_environ={"REMOTE_ADDR": "10.0.0.9"})
    clock.advance(60)
    web.post_json(path, body)


def test_without_a_mail_server_nothing_happens(cast, web, database):
    assert web.post_json(f"{RESET}/password-email", {"email": "a@example.com"}).body == b""
    conn = database.connect()
    with conn.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM outbox")
        assert cursor.fetchone() == (0,)
    conn.close()


@pytest.mark.parametrize("body", [{}, {"email": 1}, [], {"email": "a\u0000@b"}])
def test_bad_bodies(web, body, clock):
    assert web.post_json(f"{RESET}/password-email", body, status=400).json["name"] == "BadDataError"


def test_requests_of_other_sites_are_rejected(web):
    foreign = {"Sec-Fetch-Site": "cross-site"}
    for path, body in (
        ("password-email", {"email": "a@b"}),
        ("password", {"token": "x", "password": "y"}),
    ):
        web.post_json(f"{RESET}/{path}", body, headers=foreign, status=403)
    web.post(
        f"{RESET}/password-email", "email=a@b", extra_environ={"REMOTE_ADDR": "::9"}, status=415
    )


def test_a_password_can_be_validated(web):
    web.post_json(f"{RESET}/validate-password", {"password": GOOD})
    answer = web.post_json(f"{RESET}/validate-password", {"password": "aaa"}, status=400)
    assert len(answer.json["details"][0]["validationErrors"]) == 5

"""The default password from another machine: the start prints a one-time code, which it needs."""

from __future__ import annotations

import pytest
import webtest

from sigservice.crypto import secrets
from sigservice.services import startup
from sigservice.services.access import users
from sigservice.services.identity import SYSTEM
from tests.conftest import Cast
from tests.pages.page_reader import find_error, sign_in

PUBLIC = {"REMOTE_ADDR": "203.0.113.7"}
BUILT_IN = {"username": "admin", "password": "unleash4all"}


@pytest.fixture
def fresh(make_service):
    """A service with the built-in admin."""
    return make_service({"authentication": {}})


@pytest.fixture
def code(fresh):
    return startup.issue_sign_in_code(fresh.context.database)


@pytest.fixture
def browser(fresh):
    return webtest.TestApp(fresh.app, extra_environ=PUBLIC)


def attempt(browser, code=None, status=401, **more):
    body = BUILT_IN | ({} if code is None else {"code": code})
    return browser.post_json("/auth/simple", body, status=status, **more)


def test_without_the_code_nobody_signs_in_from_another_machine(browser, code):
    for missing in (None, "", " "):
        refused = attempt(browser, missing).json
        assert refused["name"] == "OneTimeCodeRequired"
        assert refused["details"][0]["path"] == "code"
    assert not browser.cookies


def test_a_wrong_code_is_refused(browser, code):
    for invalid_code in ("0000-0000", code[:-1], code + "0", "x" * 5000, "ſ" * 9, "%00"):
        assert attempt(browser, invalid_code).json["name"] == "OneTimeCodeRequired"
    assert not browser.cookies


def test_the_code_opens_a_session(browser, code):
    attempt(browser, code, 200)
    assert browser.get("/api/admin/user").json["user"]["username"] == "admin"


def test_a_code_counts_however_it_is_typed(browser, fresh, code):
    attempt(browser, f" {code.lower().replace('-', ' ')} ", 200)
    assert secrets.normalize_code("oil0 - abcd") == "0110-ABCD"


def test_a_code_counts_once(browser, code):
    attempt(browser, code, 200)
    attempt(browser, code)


def test_a_wrong_password_does_not_use_the_code_up(browser, code):
    body = BUILT_IN | {"password": "wrong", "code": code}
    refused = browser.post_json("/auth/simple", body, status=401).json
    assert refused["name"] == "PasswordMismatch"
    attempt(browser, code, 200)


def test_the_code_that_was_printed_last_counts(browser, fresh, code):
    newer = startup.issue_sign_in_code(fresh.context.database)
    attempt(browser, code)
    attempt(browser, newer, 200)


def test_wrong_codes_count_as_wrong_passwords(fresh, code):
    web = webtest.TestApp(fresh.app)
    answers = [
        web.post_json(
            "/auth/simple",
            BUILT_IN | {"code": "0000-0000"},
            extra_environ={"REMOTE_ADDR": f"203.0.113.{n}"},
            expect_errors=True,
        ).status_int
        for n in range(11)
    ]
    assert answers == [401] * 10 + [429]


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", ""])
def test_from_this_machine_no_code_is_asked_for(fresh, code, address):
    browser = webtest.TestApp(fresh.app, extra_environ={"REMOTE_ADDR": address})
    attempt(browser, status=200)


@pytest.mark.parametrize("trusted", [[], ["127.0.0.1"]])
def test_behind_a_proxy_the_code_is_asked_for(make_service, trusted):
    options = {"authentication": {}, "server": {"trustedProxy": trusted}}
    browser = webtest.TestApp(make_service(options).app, extra_environ={"REMOTE_ADDR": "127.0.0.1"})
    attempt(browser, headers={"X-Forwarded-For": "127.0.0.1"})


def test_a_configured_password_needs_no_code(web):
    body = {"username": "ada", "password": Cast.PASSWORD}
    web.post_json("/auth/simple", body, extra_environ=PUBLIC, status=200)


def test_a_new_password_needs_no_code(browser, fresh, code):
    context = fresh.context
    with context.database.transaction() as conn:
        id = users.find(conn, "admin")["id"]
        users.set_password(conn, id, context.passwords.hash(Cast.PASSWORD), SYSTEM)
    body = {"username": "admin", "password": Cast.PASSWORD}
    browser.post_json("/auth/simple", body, status=200)


def test_the_form_asks_for_the_code_after_the_right_password_only(browser, code):
    assert "code" not in browser.get("/sign-in").form.fields
    assert "code" not in sign_in(browser, "admin", "wrong", status=401).form.fields
    page = sign_in(browser, "admin", "unleash4all", status=401)
    assert "one-time code" in find_error(page, "code")
    page.form["password"], page.form["code"] = "unleash4all", "0000-0000"
    page = page.form.submit(status=401)
    assert "wrong or has been used" in find_error(page, "code")
    page.form["password"], page.form["code"] = "unleash4all", code
    page.form.submit(status=303)
    assert browser.get("/profile").status_int == 200


def test_the_code_is_stored_as_a_hash_alone(fresh, code, rows):
    ((value,),) = rows("SELECT value::text FROM settings WHERE key = 'sign_in_code'")
    assert code not in value
    assert secrets.sha256(code).hex() in value


def test_a_start_prints_the_code_while_the_default_password_works(make_service, capsys):
    service = make_service({"authentication": {}, "logLevel": "debug", "server": {"port": 0}})
    service.start()
    (line,) = [line for line in service.describe() if "one-time code" in line]
    code = line.split()[2].rstrip(",")
    browser = webtest.TestApp(service.app, extra_environ=PUBLIC)
    attempt(browser, code, 200)
    assert code not in capsys.readouterr().err


def test_a_start_prints_no_code_with_a_configured_password(make_service, rows):
    service = make_service({"server": {"port": 0}})
    service.start()
    assert not any("one-time code" in line for line in service.describe())
    assert rows("SELECT 1 FROM settings WHERE key = 'sign_in_code'") == []

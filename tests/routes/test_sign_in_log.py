"""What sign-ins, sign-outs and refused requests leave in the audit log and in the log."""

from __future__ import annotations

import pytest
import webtest

from sigservice.jobs import buffers
from sigservice.services import startup
from sigservice.services.access.failed_sign_ins import (
    MAX_EVENTS_PER_MINUTE,
    MAX_NAMES,
    SignInError,
)
from sigservice.services.system.capped_log import MAX_LINES_PER_MINUTE
from tests.application.test_app import Log
from tests.conftest import Cast
from tests.pages.page_reader import sign_in
from tests.routes.test_account_limit import attempt, elsewhere

HOME = {"REMOTE_ADDR": "192.0.2.1"}
SECRET = "Typed-In-The-Wrong-Field-1"


@pytest.fixture
def events(rows):
    """`events(type)`: (created_by, ip, data) of each, oldest first."""

    def read(type):
        statement = "SELECT created_by, ip, data FROM events WHERE type = %s ORDER BY id"
        return rows(statement, type)

    return read


@pytest.fixture
def ada_id(rows, service):
    return rows("SELECT id FROM users WHERE username = 'ada'")[0][0]


def test_the_first_admin_has_an_event(service, events):
    ((by, ip, data),) = events("user-created")
    assert (by, ip, data["username"], data["rootRole"]) == ("system", None, "ada", 1)
    assert "password" not in str(data).lower()


def test_a_sign_in_has_an_event_with_user_and_address(web, events, ada_id):
    attempt(web, password=Cast.PASSWORD, place=HOME)
    assert events("user-signed-in") == [
        ("ada", "192.0.2.1", {"id": ada_id, "username": "ada", "method": "password"})
    ]


def test_a_sign_in_by_the_form_has_one_too(web, events):
    sign_in(web)
    assert len(events("user-signed-in")) == 1


def test_a_sign_in_by_an_address_alone_has_one_too(make_site, events):
    make_site("demo").post_json("/auth/demo/login", {"email": "eve@b"}, extra_environ=HOME)
    assert [(by, ip) for by, ip, _ in events("user-signed-in")] == [("eve@b", "192.0.2.1")]


def test_an_address_that_is_refused_has_an_event_of_a_failure(make_site, events):
    body = {"email": "admin"}
    make_site("demo").post_json("/auth/demo/login", body, extra_environ=HOME, status=400)
    data = {"reason": "address refused"}
    assert events("user-sign-in-failed") == [("anonymous", "192.0.2.1", data)]


def test_a_sign_out_has_an_event(cast, events):
    ed = cast.signed_in("ed")
    ed.post("/logout", {"csrf": ed.csrf}, extra_environ=HOME)
    ((by, ip, data),) = events("user-signed-out")
    assert (by, ip, data["username"]) == ("ed", "192.0.2.1", "ed")


def test_a_wrong_password_has_an_event_with_the_account(web, events, ada_id):
    attempt(web, place=HOME)
    data = {"reason": "wrong password", "id": ada_id, "username": "ada"}
    assert events("user-sign-in-failed") == [("anonymous", "192.0.2.1", data)]


def test_an_unknown_name_is_never_written(web, events):
    attempt(web, SECRET, SECRET, HOME)
    data = {"reason": "unknown user"}
    assert events("user-sign-in-failed") == [("anonymous", "192.0.2.1", data)]


def test_a_missing_one_time_code_has_an_event(make_service, events):
    service = make_service({"authentication": {}})
    startup.issue_sign_in_code(service.context.database)
    attempt(webtest.TestApp(service.app), "admin", "unleash4all", {"REMOTE_ADDR": "203.0.113.7"})
    ((_, _, data),) = events("user-sign-in-failed")
    assert (data["reason"], data["username"]) == ("no one-time code", "admin")
    assert events("user-signed-in") == []


def test_a_wrong_old_password_has_an_event(cast, events):
    ed = cast.signed_in("ed")
    new = "Better-Horse-8"
    body = {"oldPassword": SECRET, "password": new, "confirmPassword": new}
    headers = {"X-CSRF-Token": ed.csrf}
    path = "/api/admin/user/change-password"
    ed.post_json(path, body, headers=headers, extra_environ=HOME, status=401)
    ((by, ip, data),) = events("user-password-change-failed")
    assert (by, ip, data["username"]) == ("ed", "192.0.2.1", "ed")
    assert SECRET not in str(data)


def test_a_flood_of_wrong_passwords_is_counted_in_one_event_a_minute(web, service, events):
    for n in range(MAX_EVENTS_PER_MINUTE + 5):
        attempt(web, f"nobody-{n}")
    attempt(web, "ada")
    attempt(web, "ada")
    assert len(events("user-sign-in-failed")) == MAX_EVENTS_PER_MINUTE
    buffers.store_last_uses(service.context)
    assert events("user-sign-ins-failed") == [("system", None, {"count": 7, "byUser": {"ada": 2}})]
    buffers.store_last_uses(service.context)
    assert len(events("user-sign-ins-failed")) == 1


def test_the_names_of_a_summary_are_bounded(service, rows):
    failed = service.context.failed_sign_ins
    for n in range(MAX_EVENTS_PER_MINUTE + MAX_NAMES + 5):
        user = {"id": n, "username": f"u{n}", "email": None}
        refused = SignInError("", "wrong password", user)
        failed.record(service.context.database, refused, "")
    failed.record_summary(service.context.database)
    ((data,),) = rows("SELECT data FROM events WHERE type = 'user-sign-ins-failed'")
    assert data["count"] == MAX_NAMES + 5
    assert len(data["byUser"]) == MAX_NAMES


def test_attempts_are_counted_by_result(web, service):
    attempt(web, password=Cast.PASSWORD)
    web.reset()  # a session has a limit of its own
    for _ in range(12):
        attempt(web)
    text = web.get("/internal-backstage/prometheus").text
    metrics = {line for line in text.splitlines() if line.startswith("login_attempts_total")}
    assert metrics == {
        'login_attempts_total{method="password",result="success"} 1.0',
        'login_attempts_total{method="password",result="failed"} 10.0',
        'login_attempts_total{method="password",result="limited"} 2.0',
    }


@pytest.fixture
def logged(make_service):
    """A service, and `lines()`: those that its refusals left in the log."""
    log = Log()
    service = make_service({"getLogger": log})
    return service, lambda: [text for name, _, text in log.lines if name == "refusals"]


def test_a_refused_role_is_logged_with_user_address_and_reason(logged):
    service, lines = logged
    vera = Cast(service).signed_in("vera")
    vera.get("/admin/users", extra_environ=HOME, status=403)
    vera.get("/api/admin/user-admin", extra_environ=HOME, status=403)
    page, api = lines()
    assert page.startswith("403 PermissionError on GET /admin/users by vera (id ")
    assert "from 192.0.2.1: You don't have permission to do this." in page
    assert api.startswith("403 PermissionError on GET /api/admin/user-admin by vera (id ")
    assert api.endswith("from 192.0.2.1: This needs the permission ADMIN.")


def test_a_request_of_another_site_is_logged(logged):
    service, lines = logged
    vera = Cast(service).signed_in("vera")
    foreign = {"Origin": "https://evil.example"}
    vera.post("/logout", {"csrf": vera.csrf}, headers=foreign, extra_environ=HOME, status=403)
    path, own = "/api/admin/user/change-password", {"Sec-Fetch-Site": "same-origin"}
    vera.post_json(path, {}, headers=own, extra_environ=HOME, status=403)
    vera.post("/profile/password", {"csrf": "x"}, extra_environ=HOME, status=403)
    foreign_line, csrf_line, form_line = lines()
    assert "POST /logout by vera (id " in foreign_line
    assert "POST /profile/password by vera (id " in form_line
    assert foreign_line.endswith("from 192.0.2.1: This request came from another site.")
    assert "POST /api/admin/user/change-password by vera (id " in csrf_line
    assert "This form has expired" in csrf_line


def test_a_refused_sign_in_form_is_logged(logged):
    service, lines = logged
    web = webtest.TestApp(service.app)
    web.post("/sign-in", {"username": SECRET, "password": SECRET}, extra_environ=HOME, status=403)
    (line,) = lines()
    assert "POST /sign-in by anonymous from 192.0.2.1: This form has expired" in line
    assert SECRET not in line


def test_a_flood_of_refused_requests_is_counted(logged, clock):
    service, lines = logged
    web = webtest.TestApp(service.app)
    for _ in range(MAX_LINES_PER_MINUTE + 5):
        web.post("/sign-in", {}, extra_environ=elsewhere(), status=403)
    assert len(lines()) == MAX_LINES_PER_MINUTE
    clock.advance(60)
    web.post("/sign-in", {}, status=403)
    assert lines()[-1].endswith("(5 similar lines omitted)")

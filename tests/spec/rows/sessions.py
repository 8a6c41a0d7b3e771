"""Sessions: how long they last, their cookie, what signing out clears."""

from __future__ import annotations

import re
from http.cookies import SimpleCookie

from tests.spec.kit import Case, Row


def check_lifetime(case: Case) -> None:
    """Counted from the sign-in: using a session does not lengthen it."""
    (cookie,) = SimpleCookie(case.sign_in().headers["Set-Cookie"]).values()
    assert int(cookie["max-age"]) == case.value * 3600
    assert (cookie["path"], cookie["httponly"], cookie["samesite"].lower()) == ("/", True, "lax")
    assert re.fullmatch(r"[\w-]{43}", cookie.value)
    response = case.request("GET", "/api/admin/user", Cookie=f"{cookie.key}={cookie.value}")
    assert (response.status, response.headers["Set-Cookie"]) == (200, None)


def check_invalid_lifetime(case: Case) -> None:
    process = case.start_failing({"SESSION_TTL_HOURS": "0"})
    assert process.wait() == 2
    (line,) = process.stderr.splitlines()
    assert line.startswith("sigservice: SESSION_TTL_HOURS: expected a whole number from 1 to")


def check_cookie_name(case: Case) -> None:
    (cookie,) = SimpleCookie(case.sign_in().headers["Set-Cookie"]).values()
    assert cookie.key == case.value
    response = case.request("GET", "/api/admin/user", Cookie=f"{cookie.key}={cookie.value}")
    assert response.json["user"]["username"] == "ada"


def check_sign_out(case: Case) -> None:
    answer = case.sign_in()
    (cookie,) = SimpleCookie(answer.headers["Set-Cookie"]).values()
    session = f"{cookie.key}={cookie.value}"
    sign_out = case.request(
        "POST", "/logout", Cookie=session, X_CSRF_Token=answer.json["csrfToken"]
    )
    assert sign_out.status in (200, 302, 303)
    assert sign_out.headers["Clear-Site-Data"] is None
    (gone,) = SimpleCookie(sign_out.headers["Set-Cookie"]).values()
    assert (gone.key, gone.value, gone["path"], gone["max-age"]) == (cookie.key, "", "/", "0")
    assert case.request("GET", "/api/admin/user", Cookie=session).status == 401


ROWS = (
    Row("session.ttlHours", check_lifetime, "SESSION_TTL_HOURS", "12", 12),
    Row("session.ttlHours", check_invalid_lifetime, alone=True),
    Row("session.cookieName", check_cookie_name, code="mine"),
    Row(
        "session.clearSiteDataOnLogout",
        check_sign_out,
        "SESSION_CLEAR_SITE_DATA_ON_LOGOUT",
        "false",
    ),
)

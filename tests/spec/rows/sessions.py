"""Sessions: how long they last, their cookie, what signing out clears."""

from __future__ import annotations

import re
from http.cookies import SimpleCookie

from tests.spec.kit import Asked, Row


def lifetime(asked: Asked) -> None:
    """Counted from the sign-in: using a session does not lengthen it."""
    (cookie,) = SimpleCookie(asked.sign_in().headers["Set-Cookie"]).values()
    assert int(cookie["max-age"]) == asked.value * 3600
    assert (cookie["path"], cookie["httponly"], cookie["samesite"].lower()) == ("/", True, "lax")
    assert re.fullmatch(r"[\w-]{43}", cookie.value)
    used = asked.ask("GET", "/api/admin/user", Cookie=f"{cookie.key}={cookie.value}")
    assert (used.status, used.headers["Set-Cookie"]) == (200, None)


def wrong_lifetime(asked: Asked) -> None:
    ended = asked.refuse({"SESSION_TTL_HOURS": "0"})
    assert ended.wait() == 2
    (line,) = ended.stderr.splitlines()
    assert line.startswith("sigservice: SESSION_TTL_HOURS: expected a whole number from 1 to")


def cookie_name(asked: Asked) -> None:
    (cookie,) = SimpleCookie(asked.sign_in().headers["Set-Cookie"]).values()
    assert cookie.key == asked.value
    sent = asked.ask("GET", "/api/admin/user", Cookie=f"{cookie.key}={cookie.value}")
    assert sent.json["user"]["username"] == "ada"


def signing_out(asked: Asked) -> None:
    answer = asked.sign_in()
    (cookie,) = SimpleCookie(answer.headers["Set-Cookie"]).values()
    session = f"{cookie.key}={cookie.value}"
    left = asked.ask("POST", "/logout", Cookie=session, X_CSRF_Token=answer.json["csrfToken"])
    assert left.status in (200, 302, 303)
    said = left.headers["Clear-Site-Data"]
    assert said == ('"cookies", "storage"' if asked.value else None)
    (gone,) = SimpleCookie(left.headers["Set-Cookie"]).values()
    assert (gone.key, gone.value, gone["path"], gone["max-age"]) == (cookie.key, "", "/", "0")
    assert asked.ask("GET", "/api/admin/user", Cookie=session).status == 401


ROWS = (
    Row("session.ttlHours", lifetime, "SESSION_TTL_HOURS", 48, "12", 12, code=6),
    Row("session.ttlHours", wrong_lifetime, alone=True),
    Row("session.cookieName", cookie_name, default="service-session", code="mine"),
    Row(
        "session.clearSiteDataOnLogout",
        signing_out,
        "SESSION_CLEAR_SITE_DATA_ON_LOGOUT",
        True,
        "false",
        False,
        code=True,
    ),
)

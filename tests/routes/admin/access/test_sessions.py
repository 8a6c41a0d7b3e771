"""The user's own sessions: listed, ended one by one or all but this one, never another user's."""

from __future__ import annotations

import pytest
import webtest

from sigservice.db.errors import DatabaseUnavailable
from sigservice.jobs import buffers, upkeep
from sigservice.repository.access import sessions
from tests.conftest import ADMIN, Cast
from tests.routes.kit import OWN_PAGE

PATH = "/api/admin/user/sessions"
MINUTE = 60


@pytest.fixture
def sign_in(service):
    """`sign_in("ed", agent)`: a browser with a session; `.headers` have its CSRF token."""

    def make(name="ed", agent="Firefox", ip="10.0.0.1", service=service):
        web = webtest.TestApp(service.app, {"REMOTE_ADDR": ip})
        body = {"username": name, "password": Cast.PASSWORD}
        answer = web.post_json("/auth/simple", body, headers={"User-Agent": agent})
        web.headers = {"X-CSRF-Token": answer.json["csrfToken"]}
        return web

    return make


def own(web):
    return web.get(PATH).json["sessions"]


def test_sessions_are_listed_with_place_and_program(cast, sign_in):
    sign_in("vera")
    sign_in(agent="curl/8", ip="10.0.0.2")
    web = sign_in()
    here, there = own(web)
    assert (here["ip"], here["userAgent"], here["isCurrent"]) == ("10.0.0.1", "Firefox", True)
    assert (there["ip"], there["userAgent"], there["isCurrent"]) == ("10.0.0.2", "curl/8", False)
    assert here["createdAt"] == here["lastUsedAt"] < here["expiresAt"]
    assert set(here) == {
        "id", "createdAt", "lastUsedAt", "expiresAt", "ip", "userAgent", "isCurrent",
    }  # fmt: skip


def test_neither_the_cookie_nor_its_hash_is_shown(cast, sign_in, rows):
    web = sign_in()
    ((id_hash,),) = rows("SELECT id_hash FROM sessions")
    text = web.get(PATH).text + web.get("/profile").text
    assert web.cookies["service-session"] not in text
    assert bytes(id_hash).hex() not in text


def test_what_a_browser_calls_itself_is_bounded_and_printable(cast, sign_in):
    web = sign_in(agent="<b>\u00e9\x1b" + "x" * 5000)
    (session,) = own(web)
    assert session["userAgent"].startswith("<b>")
    assert session["userAgent"].isprintable()
    assert len(session["userAgent"]) == 200


def test_the_last_use_is_written_by_the_job(cast, sign_in, service, clock):
    web = sign_in()
    (before,) = own(web)
    clock.advance(90)
    web.get("/api/admin/user")
    buffers.store_last_uses(service.context)
    (after,) = own(web)
    assert after["createdAt"] == before["createdAt"]
    assert after["lastUsedAt"] > before["lastUsedAt"]


def test_one_session_is_ended(cast, sign_in, web):
    there, here = sign_in(), sign_in()
    id = next(session["id"] for session in own(here) if not session["isCurrent"])
    here.delete(f"{PATH}/{id}", headers=here.headers)
    there.get("/api/admin/user", status=401)
    assert [session["isCurrent"] for session in own(here)] == [True]
    here.delete(f"{PATH}/{id}", headers=here.headers, status=404)
    (event, *_) = web.get("/api/admin/events", headers=ADMIN).json["events"]
    assert (event["type"], event["createdBy"]) == ("user-sessions-ended", "ed")


def test_the_current_session_is_ended_with_its_cookie(cast, sign_in):
    there, here = sign_in(), sign_in()
    id = next(session["id"] for session in own(here) if session["isCurrent"])
    answer = here.delete(f"{PATH}/{id}", headers=here.headers)
    assert "service-session=" in answer.headers["Set-Cookie"]
    assert "Max-Age=0" in answer.headers["Set-Cookie"]
    there.get("/api/admin/user")


def test_all_others_are_ended(cast, sign_in):
    others, vera, here = [sign_in(), sign_in()], sign_in("vera"), sign_in()
    here.delete(PATH, headers=here.headers)
    for web in others:
        web.get("/api/admin/user", status=401)
    here.get("/api/admin/user")
    vera.get("/api/admin/user")


def test_another_users_session_can_not_be_ended(cast, sign_in):
    vera, ed = sign_in("vera"), sign_in()
    (session,) = own(vera)
    ed.delete(f"{PATH}/{session['id']}", headers=ed.headers, status=404)
    vera.get("/api/admin/user")


def test_tokens_have_no_sessions(cast, sign_in, web):
    ed = sign_in()
    (session,) = own(ed)
    for path in (PATH, f"{PATH}/{session['id']}"):
        web.delete(path, headers=ADMIN, status=403)
        ed.delete(path, headers=OWN_PAGE, status=403)  # without the CSRF token
    web.get(PATH, headers=ADMIN, status=403)
    web.get(PATH, status=401)
    ed.get("/api/admin/user")


@pytest.fixture
def idle(make_service):
    return make_service(environ={"SESSION_IDLE_MINUTES": "30"})


def test_an_unused_session_ends(idle, sign_in, clock):
    web = sign_in("ada", service=idle)
    clock.advance(30 * MINUTE - 1)
    web.get("/api/admin/user")
    clock.advance(30 * MINUTE - 1)
    web.get("/api/admin/user")
    clock.advance(30 * MINUTE)
    web.get("/api/admin/user", status=401)
    web.get("/profile", status=303)


def fail(*_args):
    raise DatabaseUnavailable


def test_a_use_counts_while_it_can_not_be_written_and_in_other_processes(
    idle, make_service, sign_in, clock, monkeypatch
):
    other = webtest.TestApp(make_service(environ={"SESSION_IDLE_MINUTES": "30"}).app)
    web = sign_in("ada", service=idle)
    cookie = {"Cookie": f"service-session={web.cookies['service-session']}"}
    clock.advance(20 * MINUTE)
    web.get("/api/admin/user")
    with monkeypatch.context() as patch:
        patch.setattr(sessions, "mark_used", fail)
        for _ in range(2):
            with pytest.raises(DatabaseUnavailable):
                buffers.store_last_uses(idle.context)
    clock.advance(20 * MINUTE)
    web.get("/api/admin/user")
    buffers.store_last_uses(idle.context)
    clock.advance(20 * MINUTE)
    other.get("/api/admin/user", headers=cookie)


def test_the_live_refresh_of_a_page_is_no_use(idle, sign_in, clock):
    web = sign_in("ada", service=idle)
    clock.advance(20 * MINUTE)
    web.get("/profile", headers={"X-Live-Refresh": "1"}, status=200)
    clock.advance(20 * MINUTE)
    web.get("/profile", status=303)


def test_unused_sessions_are_neither_listed_nor_stored(idle, sign_in, clock):
    sign_in("ada", service=idle)
    clock.advance(20 * MINUTE)
    web = sign_in("ada", service=idle)
    assert len(own(web)) == 2
    clock.advance(15 * MINUTE)
    assert len(own(web)) == 1
    clock.advance(5 * MINUTE)
    assert upkeep.delete_sessions(idle.context) == 1
    web.get("/api/admin/user")


def test_without_an_idle_limit_the_lifetime_alone_ends_a_session(cast, sign_in, clock):
    web = sign_in()
    clock.advance(48 * 60 * MINUTE - 1)
    web.get("/api/admin/user")

"""The authentication type custom: the user that a handler returns, and invalid handlers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import webtest
from bottle import HTTPResponse, request

from sigservice import authentication
from sigservice.errors import BadDataError, ForbiddenError, StartError
from sigservice.repository.access import users as repository
from sigservice.services.access.passwordless_users import find_custom_user
from tests.application.test_app import Log
from tests.conftest import ADMIN
from tests.routes.kit import FOREIGN, NEW_PROJECT, PEOPLE, people, who

PAGE = Path(__file__).parents[2] / "docs" / "authentication.md"


def test_custom_without_a_handler_lets_tokens_in_alone(make_site):
    web = make_site("custom")
    for path in ("/api/admin/projects", "/api/client/features", "/api/frontend"):
        body = web.get(path, status=401).json
        assert "customAuthHandler" in body["error"]
        assert {"id", "name", "message", "details"} <= set(body)
    web.get("/api/admin/projects", headers=ADMIN)
    page = web.get("/admin/segments", status=303).follow()
    assert "not configured" in page.text
    web.post("/sign-in", {"username": "ada"}, status=303)


def test_example_of_the_page_trusts_the_header_of_the_proxy(make_site):
    code = re.search(r"```python\n(.*?)```", PAGE.read_text(), re.S)[1]
    names = {}
    exec(code, names)
    web = make_site("custom", customAuthHandler=names["handler"])
    assert web.get("/api/admin/user", status=401)
    assert who(web, **{"X-Forwarded-Email": "eva@example.org"}) == "eva@example.org"


def asker(environ):
    """Names who is in a header of the test's."""
    text = environ.get("HTTP_X_WHO")
    return eval(text) if text else None


def test_custom_asks_the_function_at_each_request(make_site):
    arguments = {}

    def handler(app, config):
        arguments.update(app=app, type=config["authentication"]["type"])
        return asker

    web = make_site("custom", customAuthHandler=handler)
    assert arguments["type"] == "custom"
    assert web.get("/api/admin/projects", status=401).json["path"] == "/sign-in"
    eva = "dict(email='eva@b', name='Eva')"
    assert who(web, **{"X-Who": eva}) == "eva@b"
    assert people(web)["eva@b"] == "Viewer"
    web.post_json("/api/admin/projects", NEW_PROJECT, headers={"X-Who": eva}, status=403)
    boss = {"X-Who": "dict(email='EVA@b', rootRole='Admin')"}
    web.post_json("/api/admin/projects", NEW_PROJECT, headers=boss, status=201)
    for headers in FOREIGN:
        body = NEW_PROJECT | {"id": "x"}
        web.post_json("/api/admin/projects", body, headers=headers | boss, status=403)
    assert who(web, **{"X-Who": eva}) == "eva@b"
    assert people(web) == {"ada": "Admin", "eva@b": "Admin"}  # no role named: it stays
    assert who(web, **{"X-Who": "dict(username='ada', rootRole='Viewer')"}) == "ada"
    assert people(web)["ada"] == "Viewer"
    assert who(web, **{"X-Who": "dict(email='eva@b', rootRole=3)"}) == "eva@b"
    assert people(web)["eva@b"] == "Admin"  # the last one stays
    page = web.get("/profile", headers=boss)
    assert "Sign out" not in page.text
    assert not page.html.find_all("input", type="password")
    web.get("/api/admin/projects", headers=ADMIN)


@pytest.mark.parametrize(
    "expression",
    ["1/0", "environ['NO_SUCH']", "{}", "dict(email='no')", "dict(email='a@b', id=1)", "'ada'",
     "dict(username='a\\0b')", "dict(username=['ada'])", "dict(email='a@b', rootRole='Root')",
     "dict(email='a@b', rootRole=True)", "dict(username='x'*201)", "['ada']"],
)  # fmt: skip
def test_a_failing_handler_signs_nobody_in_and_is_logged(make_site, expression):
    log = Log()
    web = make_site("custom", customAuthHandler=lambda app, config: asker, getLogger=log)
    body = web.get("/api/admin/projects", headers={"X-Who": expression}, status=401).json
    assert body["name"] == "AuthenticationRequired"
    assert any(level == "error" and "customAuthHandler" in text for _, level, text in log.lines)
    web.get("/admin/segments", headers={"X-Who": expression}, status=303).follow(status=200)
    assert people(web) == {"ada": "Admin"}


def test_a_handler_may_answer_itself(make_site):
    def refuse(environ):
        if environ["PATH_INFO"] == "/":
            raise HTTPResponse(status=302, Location="https://login.example")
        raise ForbiddenError("You are not in the group.")

    web = make_site("custom", customAuthHandler=lambda app, config: refuse)
    assert web.get("/api/admin/projects", status=403).json["message"] == "You are not in the group."
    assert web.get("/", status=302).headers["Location"] == "https://login.example"


def test_a_handlers_own_route_opens_a_session(make_site):
    def handler(app, config):
        @app.get("/sign-in/test")
        def callback():
            user = {"email": request.query["email"], "rootRole": "Editor"}
            return authentication.sign_in(request.environ, user, request.query.get("next", "/"))

        return authentication.Custom(path="/sign-in/test", label="Sign in with Test")

    web = make_site("custom", customAuthHandler=handler)
    refused = web.get("/api/admin/projects", status=401).json
    assert (refused["type"], refused["path"]) == ("custom", "/sign-in/test")
    page = web.get("/admin/segments?query=a", status=303).follow()
    link = page.html.find("a", class_="button")
    assert link.text == "Sign in with Test"
    answer = web.get(link["href"] + "&email=eva@b", status=303)
    assert answer.headers["Location"].endswith("/admin/segments?query=a")
    assert "HttpOnly" in answer.headers["Set-Cookie"]
    assert who(web) == "eva@b"
    web.post_json("/api/admin/projects", NEW_PROJECT, status=403)  # CSRF
    there = web.get("/sign-in/test?email=eva@b&next=//evil.example", status=303)
    assert there.headers["Location"].removeprefix("http://localhost:80") == "/"
    web.get("/sign-in/test?email=no", status=400)
    page = web.get("/")
    page.forms[0].submit(status=303)
    assert who(web) is None


@pytest.mark.parametrize("junk", [5, "x", {"identify": 1}])
def test_a_handler_that_returns_junk_stops_the_start(make_site, junk):
    with pytest.raises(StartError, match="customAuthHandler"):
        make_site("custom", customAuthHandler=lambda app, config: junk)


def test_a_handler_is_not_called_under_another_type(make_site):
    make_site("demo", customAuthHandler=lambda app, config: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        make_site("custom", customAuthHandler=lambda app, config: 1 / 0)


def test_sign_in_is_for_custom_alone(service):
    environ = {"sigservice.context": service.context}
    with pytest.raises(RuntimeError):
        authentication.sign_in(environ, {"email": "eva@b"})


def test_a_user_of_a_handler_is_never_a_service_account(make_site, service):
    web = webtest.TestApp(service.app)
    web.post_json("/api/admin/service-account", {"username": "robot", "name": "R", "rootRole": 1}, headers=ADMIN)  # fmt: skip  # noqa: E501
    with pytest.raises(Exception, match="already exists"), service.context.database.transaction() as conn:  # fmt: skip  # noqa: E501
        find_custom_user(conn, {"username": "robot"}, ip="")


def test_letters_that_a_database_takes_for_others_make_nobody_an_admin(
    make_site, service, monkeypatch
):
    """What a database with a locale finds: lower() makes the Kelvin sign a k there."""
    find = repository.find_by_login
    monkeypatch.setattr(
        repository, "find_by_login", lambda conn, login: find(conn, login.replace("\u212a", "k"))
    )
    for body in ({"email": "mike@b", "rootRole": "Admin"}, {"username": "kim"}):
        make_site("custom").post_json(PEOPLE, body, headers=ADMIN, status=201)
    with service.context.database.transaction() as conn:
        for user in ({"email": "mi\u212ae@b"}, {"username": "\u212aim", "rootRole": "Viewer"}):
            with pytest.raises(BadDataError, match="similar-looking"):
                find_custom_user(conn, user, ip="")
        assert find_custom_user(conn, {"email": "MIKE@B"}, ip="")["role"] == "Admin"

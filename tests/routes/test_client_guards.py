"""The guards of the client API and the options that change them."""

from __future__ import annotations

import webtest

from tests.conftest import ADMIN
from tests.delivery.test_revision_cache import CLIENT, TOKENS
from tests.routes.kit import Admin

POLL = "/api/client/features"


def test_session_gives_no_access_to_the_client_api(make_service):
    web = webtest.TestApp(make_service().app)
    page = web.get("/sign-in")
    page.form["username"], page.form["password"] = "ada", "Correct-Horse-7"
    page.form.submit(status=303)
    web.get("/api/admin/user", status=200)
    web.get(POLL, status=401)
    web.get(POLL, headers=ADMIN, status=403)


def test_tokens_are_optional_when_they_are_switched_off(make_service):
    options = {"authentication": TOKENS["authentication"] | {"enableApiToken": False}}
    service = make_service(options)
    admin, web = Admin(service), webtest.TestApp(service.app)
    admin.flag()
    answer = web.get(POLL).json
    assert [flag["name"] for flag in answer["features"]] == ["a"]
    assert answer["query"]["environment"] == "default"
    web.get(POLL, headers={"Authorization": "wrong"}, status=401)
    answer = web.get(POLL, headers={"Authorization": CLIENT}).json
    assert answer["query"]["environment"] == "development"

"""Each type of token gives access to one API only, and how a token may be written."""

from __future__ import annotations

import pytest
import webtest

from tests.conftest import ADMIN, ADMIN_TOKEN
from tests.routes.sdk import AUTHENTICATION, CLIENT, FRONTEND
from tests.table_tests import each

METRICS = {"appName": "a"}
REGISTER = {"appName": "a", "interval": 1, "started": "2024-01-01T00:00:00Z", "strategies": []}
ROUTES = [
    ("client", "/api/client/features", None),
    ("client", "/api/client/metrics", METRICS),
    ("client", "/api/client/register", REGISTER),
    ("client", "/api/client/metrics/bulk", {"applications": [], "metrics": []}),
    ("client", "/api/client/metrics/edge", {"identifier": "01HX", "traffic": {"x": ["y"] * 9000}}),
    ("frontend", "/api/frontend", None),
    ("frontend", "/api/frontend", {}),
    *(
        ("frontend", f"{base}/{path}", body)
        for base in ("/api/frontend", "/api/frontend/client", "/api/proxy/client")
        for path, body in (("metrics", METRICS), ("register", REGISTER))
    ),
    ("frontend", "/api/frontend/all/client/metrics", METRICS),
    ("frontend", "/api/proxy/all/client/metrics", METRICS),
    ("admin", "/api/admin/projects", None),
    ("admin", "/api/admin/environments", None),
    ("admin", "/api/admin/segments", None),
    ("admin", "/api/admin/api-tokens", None),
    ("admin", "/api/admin/events", None),
    ("admin", "/api/admin/projects/default/features", {"name": "x"}),
]


@pytest.fixture
def web(make_service):
    environ = {"FAILED_AUTH_LIMIT_PER_MINUTE": "1000000"}
    return webtest.TestApp(make_service({"authentication": AUTHENTICATION}, environ).app)


def ask(web, path, body, secret):
    headers = {} if secret is None else {"Authorization": secret}
    if body is None:
        return web.get(path, headers=headers, expect_errors=True)
    return web.post_json(path, body, headers=headers, expect_errors=True)


@pytest.fixture
def secrets(web):
    body = {"tokenName": "backend", "type": "backend", "environment": "development"}
    return {
        "client": CLIENT["Authorization"],
        "backend": web.post_json("/api/admin/api-tokens", body, headers=ADMIN).json["secret"],
        "frontend": FRONTEND["Authorization"],
        "admin": ADMIN_TOKEN,
    }


@each("owner path body", ROUTES, name=lambda row: row[1])
def test_each_token_gives_access_to_its_own_api_only(web, secrets, owner, path, body):
    for type, secret in secrets.items():
        answer = ask(web, path, body, secret)
        if owner == ("client" if type == "backend" else type):
            assert answer.status_int in (200, 201, 202), type
        else:
            assert (answer.status_int, "message" in answer.json) == (403, True), type
    client = secrets["client"]
    for secret in (None, "", "*:development.0", "Basic YTpi", client[:-1], client + "0"):
        answer = ask(web, path, body, secret)
        assert (answer.status_int, "message" in answer.json) == (401, True), secret


@each("prefix", ("", "Bearer ", "bearer ", "BEARER "))
def test_the_word_bearer_is_optional_in_any_case(web, secrets, prefix):
    for type, path in (
        ("client", "/api/client/features"),
        ("frontend", "/api/frontend"),
        ("admin", "/api/admin/projects"),
    ):
        assert ask(web, path, None, f"{prefix}{secrets[type]}").status_int == 200, path


@each("space", ("\xa0", "\x85", "\x1c", "\x0b"))
def test_only_spaces_and_tabs_may_surround_a_token(web, secrets, space):
    path, client = "/api/client/features", secrets["client"]
    for text in (space + client, client + space, f"Bearer {space}{client}"):
        assert ask(web, path, None, text).status_int == 401, text
    assert ask(web, path, None, f"Bearer \t {client} \t").status_int == 200

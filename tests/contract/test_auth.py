"""Which token gives access to which API, and the errors for the others."""

from __future__ import annotations

import json

import pytest
import webtest

from tests.conftest import ADMIN, ADMIN_TOKEN
from tests.contract.kit import Api

METRICS = {"appName": "a"}
REGISTER = {"appName": "a", "interval": 1, "started": "2024-01-01T00:00:00Z", "strategies": []}
DOORS = [
    ("client", "GET", "/api/client/features", None),
    ("client", "GET", "/api/client/features/demo", None),
    ("client", "POST", "/api/client/metrics", METRICS),
    ("client", "POST", "/api/client/register", REGISTER),
    ("client", "POST", "/api/client/metrics/bulk", {"applications": [], "metrics": []}),
    ("frontend", "GET", "/api/frontend", None),
    ("frontend", "POST", "/api/frontend", {}),
    ("frontend", "POST", "/api/frontend/client/metrics", METRICS),
    ("frontend", "POST", "/api/frontend/metrics", METRICS),
    ("frontend", "POST", "/api/frontend/client/register", REGISTER),
    ("frontend", "POST", "/api/frontend/register", REGISTER),
    ("admin", "GET", "/api/admin/projects", None),
    ("admin", "GET", "/api/admin/environments", None),
    ("admin", "GET", "/api/admin/segments", None),
    ("admin", "GET", "/api/admin/api-tokens", None),
    ("admin", "GET", "/api/admin/events", None),
    ("admin", "POST", "/api/admin/projects/default/features", {"name": "x"}),
]


def test_each_token_opens_its_own_api_only(api, check):
    api.flag()
    tokens = {
        "client": api.client()["Authorization"],
        "frontend": api.frontend()["Authorization"],
        "admin": ADMIN_TOKEN,
        "backend": api.token(type="backend")["secret"],
    }
    for owner, method, path, body in DOORS:
        more = () if body is None else (body,)
        for kind, secret in tokens.items():
            answer = api.ask(method, path, *more, headers={"Authorization": secret})
            opens = owner == ("client" if kind == "backend" else kind)
            if opens:
                check(answer.status_int in (200, 201, 202), f"{kind}: {path}: {answer.status}")
            else:
                check.status(answer, 403, f"{kind} token")
                check("message" in answer.text, f"{kind} on {path}: no message")
        for what, headers in (
            ("no token", {}),
            ("unknown token", {"Authorization": "*:development.0000"}),
            ("empty token", {"Authorization": ""}),
            ("basic", {"Authorization": "Basic YTpi"}),
            ("part of a token", {"Authorization": tokens["client"][:-1]}),
            ("longer token", {"Authorization": tokens["client"] + "0"}),
        ):
            answer = api.ask(method, path, *more, headers=headers)
            check.status(answer, 401, what)
            check("message" in answer.text, f"{what} on {path}: no message")


@pytest.mark.parametrize("prefix", ["", "Bearer ", "bearer ", "BEARER "])
def test_the_word_bearer_is_optional_in_any_case(api, check, prefix):
    for path, headers in (
        ("/api/client/features", api.client()),
        ("/api/frontend", api.frontend()),
        ("/api/admin/projects", ADMIN),
    ):
        secret = headers["Authorization"].removeprefix("Bearer ")
        check.status(api.get(path, {"Authorization": prefix + secret}), 200, repr(prefix))


@pytest.mark.parametrize("space", ["\xa0", "\x85", "\x1c", "\x0b"])
def test_only_spaces_and_tabs_may_surround_a_token(api, check, space):
    secret = api.client()["Authorization"].removeprefix("Bearer ")
    for text in (space + secret, secret + space, f"Bearer {space}{secret}"):
        check.status(api.get("/api/client/features", {"Authorization": text}), 401, repr(text))
    text = f"Bearer \t {secret} \t"
    check.status(api.get("/api/client/features", {"Authorization": text}), 200, repr(text))


def test_authentication_none_serves_the_default_environment(make_service, check):
    service = make_service({"authentication": {"type": "none"}})
    api = Api(webtest.TestApp(service.app))
    item = api.post("/api/admin/projects/default/features", {"name": "demo"}, {})
    check.status(item, 201, "the admin API is open")
    api.post("/api/admin/projects/default/features/demo/environments/default/on", headers={})

    answer = api.get("/api/client/features", {})
    if check.status(answer, 200, "no header"):
        check.equal([f["enabled"] for f in answer.json["features"]], [True], "default environment")
    check.status(api.get("/api/frontend", {}), 200, "no header")
    bad = {"Authorization": "*:development.0000"}
    check.status(api.get("/api/client/features", bad), 401, "a bad token stays bad")
    check.status(api.get("/api/frontend", bad), 401, "a bad token stays bad")


def test_optional_api_tokens(make_service, check):
    service = make_service(
        {
            "authentication": {
                "enableApiToken": False,
                "initApiTokens": [
                    {"type": "admin", "secret": ADMIN_TOKEN, "environment": "*", "project": "*"}
                ],
            }
        }
    )
    api = Api(webtest.TestApp(service.app))
    api.on(api.flag(), "default")
    answer = api.get("/api/client/features", {})
    if check.status(answer, 200, "no token"):
        check.equal([f["enabled"] for f in answer.json["features"]], [True], "default environment")
    check.equal(api.flags(api.client("production"))["demo"]["enabled"], False, "a token scopes")
    check.status(api.get("/api/client/features", {"Authorization": "x"}), 401, "a wrong token")


def test_tokens_from_the_environment_are_scoped_by_their_text(make_service, check):
    service = make_service(
        {},
        {
            "INIT_CLIENT_API_TOKENS": "*:development.aaa,default:production.bbb",
            "INIT_FRONTEND_API_TOKENS": "default:development.ccc",
        },
    )
    api = Api(webtest.TestApp(service.app))
    api.project("web")
    api.on(api.flag("theirs", "web"), "development", "web")
    api.on(api.flag("ours"))
    check.equal(
        {n: f["enabled"] for n, f in api.flags({"Authorization": "*:development.aaa"}).items()},
        {"ours": True, "theirs": True},
        "all projects, development",
    )
    check.equal(
        {
            n: f["enabled"]
            for n, f in api.flags({"Authorization": "default:production.bbb"}).items()
        },
        {"ours": False},
        "one project, production",
    )
    frontend = {"Authorization": "default:development.ccc"}
    check.equal(sorted(api.toggles(frontend)), ["ours"], "frontend, one project")
    check.status(api.get("/api/client/features", frontend), 403, "frontend token")


def test_roles_in_the_admin_api(api, cast, check):
    """Ed is an editor, Vera a viewer; only admins manage tokens, users and environments."""
    api.flag()
    flag = {"name": "new"}
    rows = [
        ("GET", "/api/admin/projects", None, 200, 200),
        ("GET", "/api/admin/projects/default/features/demo", None, 200, 200),
        ("GET", "/api/admin/segments", None, 200, 200),
        ("POST", "/api/admin/projects/default/features", flag, 201, 403),
        ("POST", f"{api.at('demo')}/on", None, 200, 403),
        ("POST", "/api/admin/segments", {"name": "s", "constraints": []}, 201, 403),
        ("GET", "/api/admin/api-tokens", None, 403, 403),
        ("POST", "/api/admin/api-tokens", {"tokenName": "t", "type": "client"}, 403, 403),
        ("POST", "/api/admin/environments", {"name": "e", "type": "test"}, 403, 403),
        ("GET", "/api/admin/user-admin", None, 403, 403),
    ]
    for column, name in ((3, "ed"), (4, "vera")):
        browser = cast.signed_in(name)
        for row in rows:
            method, path, body = row[:3]
            answer = browser.request(
                path,
                method=method,
                headers={"X-CSRF-Token": browser.csrf, "Content-Type": "application/json"},
                body=b"" if body is None else json.dumps(body).encode(),
                expect_errors=True,
            )
            check.status(answer, row[column], name)
            if answer.status_int == 403:
                check.equal(answer.json.get("name"), "PermissionError", f"{name} {path}")


def test_edge_validate_returns_the_valid_tokens(api, check):
    api.project("web")
    one = api.token(type="client", projects=["web"])["secret"]
    two = api.token(type="frontend", projects=["default", "web"])["secret"]
    query = {"tokens": [one, "nobody", two, ADMIN_TOKEN, "*:development.0000"]}
    answer = api.post("/edge/validate", query, {})
    if check.status(answer, 200):
        result = {t["token"]: t for t in answer.json["tokens"]}
        check.equal(sorted(result), sorted([one, two]), "valid ones only")
        first = result.get(one, {})
        check.equal(first.get("type") in ("client", "backend"), True, "type")
        check.equal(first.get("projects"), ["web"], "projects")
        check.equal(first.get("environment"), "development", "environment")
        check.equal(sorted(result.get(two, {}).get("projects", [])), ["default", "web"], "projects")
    for body in ({}, {"tokens": "x"}, {"tokens": [1]}, [], b"{"):
        check.error(api.post("/edge/validate", body, {}), 400)
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    check.error(api.post("/edge/validate", b"tokens=x", form), 415)

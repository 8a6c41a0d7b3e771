"""Who is let in: authentication types, first admin, first tokens."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from http.cookies import SimpleCookie
from itertools import product
from typing import Any

from tests.server.process import Process
from tests.spec.database_site import together
from tests.spec.kit import ADMIN_SECRET, ADMIN_USER, Asked, Row, Services

FEATURES = "/api/admin/projects/default/features"
KINDS = ("open-source", "demo", "custom", "none")


def kinds(asked: Asked) -> None:
    """Each of the four, as a variable and in code; the default is open-source."""
    if asked.way == "default":
        return CHECKS[asked.value](asked, asked.services.shared("default", asked.rows))
    for kind in KINDS:
        environ = {"AUTH_TYPE": kind} if asked.way == "environment" else {}
        options = {"authentication": {"type": kind}} if asked.way == "code" else {}
        if asked.way == "code":
            environ["AUTH_TYPE"] = "none" if kind == "demo" else "demo"
        with asked.services.started(environ, options) as service:
            CHECKS[kind](asked, service)


def open_source(asked: Asked, service: Process) -> None:
    refused(asked, service, "password", "/auth/simple/login")
    wrong = asked.sign_in(service, password="wrong")
    assert (wrong.status, "Set-Cookie" in wrong.headers) == (401, False)
    assert signed_in(asked, service, asked.sign_in(service)) == ADMIN_USER["username"]
    assert demo_login(asked, service, "a@b").status == 404


def demo(asked: Asked, service: Process) -> None:
    refused(asked, service, "demo", "/auth/demo/login")
    answer = demo_login(asked, service, "a@b")
    assert (answer.status, answer.json["email"], answer.json["role"]) == (200, "a@b", "Editor")
    assert signed_in(asked, service, answer) == "a@b"
    assert demo_login(asked, service, "admin").status == 400
    assert "not for production" in service.stderr


def custom(asked: Asked, service: Process) -> None:
    """Without a handler; the row of customAuthHandler has one."""
    for path in ("/api/admin/projects", "/api/client/features", "/api/frontend"):
        answer = asked.ask("GET", path, service=service)
        assert (answer.status, "customAuthHandler" in answer.json["error"]) == (401, True)
    assert "ERROR" in service.stderr
    asked.admin("GET", "/api/admin/projects", service=service)


def none(asked: Asked, service: Process) -> None:
    assert asked.ask("GET", "/api/admin/projects", service=service).status == 200
    assert asked.ask("GET", "/", service=service).status == 200
    assert "deprecated" in service.stderr
    wrong = asked.ask("GET", "/api/admin/projects", token="wrong", service=service)
    assert wrong.status == 401
    serves_default(asked, service)


CHECKS = dict(zip(KINDS, (open_source, demo, custom, none), strict=True))


def refused(asked: Asked, service: Process, kind: str, path: str) -> None:
    answer = asked.ask("GET", "/api/admin/projects", service=service)
    assert (answer.status, answer.json["type"], answer.json["path"]) == (401, kind, path)


def demo_login(asked: Asked, service: Process, email: str) -> Any:
    return asked.ask("POST", "/auth/demo/login", {"email": email}, service=service)


def signed_in(asked: Asked, service: Process, answer: Any) -> str:
    assert answer.status == 200, answer.body
    (cookie,) = SimpleCookie(answer.headers["Set-Cookie"]).values()
    sent = f"{cookie.key}={cookie.value}"
    user = asked.ask("GET", "/api/admin/user", service=service, Cookie=sent).json["user"]
    return str(user["username"] or user["email"])


def serves_default(asked: Asked, service: Process) -> None:
    """Without a token: all projects in the environment default. A token counts, a wrong one is
    refused, and signals need theirs."""
    asked.admin("POST", FEATURES, {"name": "default-only"}, service=service)
    asked.admin("POST", f"{FEATURES}/default-only/environments/default/on", service=service)
    for kind, path, field in (
        ("client", "/api/client/features", "features"),
        ("frontend", "/api/frontend", "toggles"),
    ):
        (flag,) = asked.ask("GET", path, service=service).json[field]
        assert flag["enabled"] is True
        assert asked.ask("GET", path, token="*:default.wrong", service=service).status == 401
        with asked.api_token(kind, "production", service) as token:
            rows = asked.ask("GET", path, token=token, service=service).json[field]
            assert not any(row["enabled"] for row in rows)
    assert asked.ask("POST", "/api/signal-endpoint/x", {}, service=service).status == 401


def none_serves_default(asked: Asked) -> None:
    with asked.services.started({"AUTH_TYPE": "none"}) as service:
        serves_default(asked, service)


def enable_token(asked: Asked) -> None:
    if asked.way == "default":
        service = asked.services.shared("default", asked.rows)
    else:
        service = asked.start()
    statuses = [
        asked.ask("GET", path, service=service).status
        for path in ("/api/client/features", "/api/frontend")
    ]
    assert statuses == ([401, 401] if asked.value else [200, 200])
    assert asked.ask("GET", "/api/admin/projects", service=service).status == 401
    if not asked.value:
        serves_default(asked, service)


def tokens_open_their_api(asked: Asked) -> None:
    paths = {
        "client": "/api/client/features",
        "frontend": "/api/frontend",
        "admin": "/api/admin/projects",
    }
    with asked.api_token("client") as client, asked.api_token("frontend") as frontend:
        held = {"client": client, "frontend": frontend, "admin": ADMIN_SECRET}
        for (kind, token), (owner, path) in product(held.items(), paths.items()):
            for prefix in ("", "Bearer ", "bearer  "):
                status = asked.ask("GET", path, token=prefix + token).status
                assert status == (200 if kind == owner else 403), (kind, owner)
    for path in paths.values():
        for token in ("", "wrong", client):  # the last one is deleted by now
            assert asked.ask("GET", path, token=token).status == 401


def handler(asked: Asked) -> None:
    kind = {"authentication": {"type": "custom"}}
    service = asked.start(options=kind)
    refused(asked, service, "custom", "/spec-sign-in")
    named = asked.ask("GET", "/api/admin/user", service=service, X_Spec_User="eva@b")
    assert named.json["user"]["email"] == "eva@b"
    session = asked.ask("GET", "/spec-sign-in", service=service)
    assert session.status == 303
    (cookie,) = SimpleCookie(session.headers["Set-Cookie"]).values()
    sent = f"{cookie.key}={cookie.value}"
    known = asked.ask("GET", "/api/admin/user", service=service, Cookie=sent)
    assert known.json["user"]["email"] == "spec@b"
    asked.admin("GET", "/api/admin/projects", service=service)


def demo_admin(asked: Asked) -> None:
    service = asked.start({"AUTH_TYPE": "demo"})
    answer = demo_login(asked, service, "admin")
    if asked.value:
        assert signed_in(asked, service, answer) == ADMIN_USER["username"]
    else:
        assert (answer.status, bool(answer.json["error"])) == (400, True)
    assert demo_login(asked, service, "a@b").status == 200


def first_admin(asked: Asked) -> None:
    """Code beats the pair of variables beats the built-in; a second start changes nothing."""
    nothing = {"SERVICE_DEFAULT_ADMIN_USERNAME": "", "SERVICE_DEFAULT_ADMIN_PASSWORD": ""}
    pair = {
        "SERVICE_DEFAULT_ADMIN_USERNAME": "eva",
        "SERVICE_DEFAULT_ADMIN_PASSWORD": "Other-Horse-8",
    }
    eva = {"username": "eva", "password": "Other-Horse-8"}
    environ = {"default": nothing, "environment": pair, "code": pair}[asked.way]
    expected = eva if asked.way == "environment" else asked.value
    service = asked.start(environ)
    assert signed_in(asked, service, asked.sign_in(service, **expected)) == expected["username"]
    (row,) = asked.services.query(service, "SELECT role_id FROM users")
    assert row == (1,)
    if asked.way == "environment":
        service.close()
        other = {
            "SERVICE_DEFAULT_ADMIN_USERNAME": "bob",
            "SERVICE_DEFAULT_ADMIN_PASSWORD": "Bobs-Horse-9",
        }
        with asked.services.started(service.environ | other) as again:
            bob = {"username": "bob", "password": "Bobs-Horse-9"}
            assert asked.sign_in(again, **bob).status == 401
            assert asked.sign_in(again, **expected).status == 200
    if asked.way == "code":
        none = {"authentication": {"initialAdminUser": None}}
        with asked.services.started(pair, none) as empty:
            assert asked.services.query(empty, "SELECT count(*) FROM users") == [(0,)]


IN_CODE = [
    {"type": "CLIENT", "secret": "*:production.code", "environment": "production", "project": "*"}
]
LISTS = {
    "INIT_ADMIN_API_TOKENS": ("*:*.aaa, *:*.bbb", "/api/admin/projects"),
    "INIT_CLIENT_API_TOKENS": ("*:development.aaa,default:production.bbb", "/api/client/features"),
    "INIT_FRONTEND_API_TOKENS": ("*:development.ccc,*:production.ddd", "/api/frontend"),
}


def first_tokens(asked: Asked) -> None:
    """Into an empty table only, all or none."""
    if asked.way == "default":
        with asked.services.started({"INIT_ADMIN_API_TOKENS": ""}) as service:
            assert asked.services.query(service, "SELECT count(*) FROM api_tokens") == [(0,)]
        return
    secrets, path = LISTS[asked.row.variable] if asked.row.variable else ("", "")
    held = [secret.strip() for secret in secrets.split(",")]
    if asked.way == "code":
        held, path = [IN_CODE[0]["secret"]], "/api/client/features"
    blank = {"INIT_ADMIN_API_TOKENS": ""} | asked.row.environ(asked.way)
    service = asked.services.start(blank, asked.row.options(asked.way))
    for secret in held:
        assert asked.ask("GET", path, token=secret, service=service).status == 200
    names = asked.services.query(service, "SELECT token_name FROM api_tokens")
    assert len(names) == len(held)
    assert all(name for (name,) in names)
    if asked.row.variable == "INIT_CLIENT_API_TOKENS":
        service.close()
        late = {asked.row.variable: "*:development.late"}
        with asked.services.started(service.environ | late) as again:
            answer = asked.ask("GET", path, token="*:development.late", service=again)
            assert answer.status == 401
    said = asked.services.once(refusals, asked.services)
    for name in (asked.row.variable, f"{asked.row.variable} nowhere"):
        for place in range(2, len(WRONG.get(name, ())) + 1):
            assert re.search(rf"{asked.row.variable}.*: token {place}: ", said[name]), said[name]
        assert "token 1:" not in said.get(name, "")


_ADMIN = {"type": "ADMIN", "secret": "*:*.hunter2", "environment": "*", "project": "*"}
_SHAPES = ["*:development.good", "hunter2", "default:*.hunter2", "*:*hunter2", "*:*.hunter2"]
_PLACES = ["*:development.good", "*:nowhere.hunter2", "nowhere:development.hunter2"]
# What is refused, as the value of the variable that the name begins with or in code.
WRONG: dict[str, list[Any]] = {
    "INIT_ADMIN_API_TOKENS": ["*:*.good", "hunter2", "default:*.hunter2", "*:*hunter2"],
    "INIT_CLIENT_API_TOKENS": _SHAPES,
    "INIT_CLIENT_API_TOKENS nowhere": _PLACES,
    "INIT_FRONTEND_API_TOKENS": _SHAPES,
    "INIT_FRONTEND_API_TOKENS nowhere": _PLACES,
    "scopes": [
        _ADMIN | {"secret": "x:y.hunter2"},
        _ADMIN | {"project": "default"},
        _ADMIN | {"environment": "default"},
        IN_CODE[0] | {"environment": "*"},
    ],
    "types": [IN_CODE[0] | {"type": "SIGNAL"}],
}


@contextmanager
def refusals(services: Services) -> Iterator[dict[str, str]]:
    """What each of WRONG is answered; no secret is in it."""
    basis = services.basis()
    cases: dict[str, tuple[dict[str, str], dict[str, Any]]] = {}
    for name, tokens in WRONG.items():
        if name.startswith("INIT_"):
            cases[name] = (basis | {name.partition(" ")[0]: ",".join(tokens)}, {})
        else:
            cases[name] = (basis, {"authentication": {"initApiTokens": tokens}})
    with together(cases) as said:
        assert all("Error: " in text for text in said.values()), said
        yield said


def scopes(asked: Asked) -> None:
    """An admin token targets everything, by its text and in its fields; others one environment."""
    said = asked.services.once(refusals, asked.services)["scopes"]
    for place in range(1, 5):
        assert re.search(rf"initApiTokens.*: token {place}: ", said), said


def labels(asked: Asked) -> None:
    """A token of the variables gets a label and says what it is for."""
    found = asked.services.once(labelled, asked.services)
    shown = {(token["type"], token["environment"], token["project"]) for token in found}
    assert shown == {("admin", "*", "*"), ("client", "production", "*")}
    assert all(token["tokenName"] for token in found)


@contextmanager
def labelled(services: Services) -> Iterator[list[dict[str, Any]]]:
    code = {"authentication": {"initApiTokens": IN_CODE}}
    with services.started({}, code) as service:
        yield service.ask("GET", "/api/admin/api-tokens", secret=ADMIN_SECRET)[1]["tokens"]


def types(asked: Asked) -> None:
    said = asked.services.once(refusals, asked.services)["types"]
    assert "ADMIN, CLIENT, FRONTEND" in said
    tokens_open_their_api(asked)


ROWS = (
    Row(
        "authentication.enableApiToken",
        enable_token,
        "AUTH_ENABLE_API_TOKEN",
        True,
        "false",
        False,
        code=False,
        alone=True,
    ),
    Row("authentication.type", kinds, "AUTH_TYPE", "open-source", "demo", code="demo", alone=True),
    Row(
        "authentication.customAuthHandler",
        handler,
        code={"call": "custom_auth_handler"},
        alone=True,
    ),
    Row(
        "authentication.initialAdminUser",
        first_admin,
        "SERVICE_DEFAULT_ADMIN_USERNAME",
        {"username": "admin", "password": "unleash4all"},
        "eva",
        code={"username": "cleo", "password": "Codes-Horse-7"},
        alone=True,
    ),
    Row("authentication.initApiTokens", first_tokens, default=[], code=IN_CODE, alone=True),
    *(
        Row("authentication.initApiTokens", first_tokens, name, text=text, alone=True)
        for name, (text, _) in LISTS.items()
    ),
    Row(
        "authentication.demoAllowAdminLogin",
        demo_admin,
        "AUTH_DEMO_ALLOW_ADMIN_LOGIN",
        False,
        "true",
        True,
        code=True,
        alone=True,
    ),
    Row("API token: environment and project, * for all", labels, alone=True),
    Row("API token: admin secrets start with *:*. and target everything", scopes, alone=True),
    Row("API token: type is ADMIN, CLIENT or FRONTEND", types),
    Row("API token: those of variables get their owner label by themselves", labels, alone=True),
    Row(
        "authentication: none serves the default environment without a token",
        none_serves_default,
        alone=True,
    ),
    Row("authentication: API tokens are required unless switched off", tokens_open_their_api),
)

"""Authentication types, the first admin, the first tokens."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from http.cookies import SimpleCookie
from itertools import product
from typing import Any

from tests.server.process import Process
from tests.spec.database_fixtures import start_together
from tests.spec.kit import ADMIN_SECRET, ADMIN_USER, Case, Row, Services

FEATURES = "/api/admin/projects/default/features"


def check_types(case: Case) -> None:
    for kind, check in CHECKS.items():
        with case.services.run_service({"AUTH_TYPE": kind}) as service:
            check(case, service)


def check_open_source(case: Case, service: Process) -> None:
    check_sign_in_response(case, service, "password", "/auth/simple/login")
    rejected = case.sign_in(service, password="wrong")
    assert (rejected.status, "Set-Cookie" in rejected.headers) == (401, False)
    assert find_signed_in_user(case, service, case.sign_in(service)) == ADMIN_USER["username"]
    assert sign_in_by_email(case, service, "a@b").status == 404


def check_demo(case: Case, service: Process) -> None:
    check_sign_in_response(case, service, "demo", "/auth/demo/login")
    answer = sign_in_by_email(case, service, "a@b")
    assert (answer.status, answer.json["email"], answer.json["role"]) == (200, "a@b", "Editor")
    assert find_signed_in_user(case, service, answer) == "a@b"
    assert sign_in_by_email(case, service, "admin").status == 400
    assert "not for production" in service.stderr


def check_custom(case: Case, service: Process) -> None:
    """Without a handler; the row of customAuthHandler has one."""
    for path in ("/api/admin/projects", "/api/client/features", "/api/frontend"):
        answer = case.request("GET", path, service=service)
        assert (answer.status, "customAuthHandler" in answer.json["error"]) == (401, True)
    assert "ERROR" in service.stderr
    case.admin("GET", "/api/admin/projects", service=service)


def check_none(case: Case, service: Process) -> None:
    assert case.request("GET", "/api/admin/projects", service=service).status == 200
    assert case.request("GET", "/", service=service).status == 200
    assert "deprecated" in service.stderr
    rejected = case.request("GET", "/api/admin/projects", token="wrong", service=service)
    assert rejected.status == 401


CHECKS = {
    "open-source": check_open_source,
    "demo": check_demo,
    "custom": check_custom,
    "none": check_none,
}


def check_sign_in_response(case: Case, service: Process, kind: str, path: str) -> None:
    answer = case.request("GET", "/api/admin/projects", service=service)
    assert (answer.status, answer.json["type"], answer.json["path"]) == (401, kind, path)


def sign_in_by_email(case: Case, service: Process, email: str) -> Any:
    return case.request("POST", "/auth/demo/login", {"email": email}, service=service)


def find_signed_in_user(case: Case, service: Process, answer: Any) -> str:
    assert answer.status == 200, answer.body
    (cookie,) = SimpleCookie(answer.headers["Set-Cookie"]).values()
    session_cookie = f"{cookie.key}={cookie.value}"
    user = case.request("GET", "/api/admin/user", service=service, Cookie=session_cookie).json[
        "user"
    ]
    return str(user["username"] or user["email"])


def check_default_environment(case: Case, service: Process) -> None:
    """A request without a token gets all projects in the environment default. A token is still
    checked, and signals need theirs."""
    case.admin("POST", FEATURES, {"name": "default-only"}, service=service)
    case.admin("POST", f"{FEATURES}/default-only/environments/default/on", service=service)
    for kind, path, field in (
        ("client", "/api/client/features", "features"),
        ("frontend", "/api/frontend", "toggles"),
    ):
        (flag,) = case.request("GET", path, service=service).json[field]
        assert flag["enabled"] is True
        assert case.request("GET", path, token="*:default.wrong", service=service).status == 401
        with case.create_api_token(kind, "production", service) as token:
            rows = case.request("GET", path, token=token, service=service).json[field]
            assert not any(row["enabled"] for row in rows)
    assert case.request("POST", "/api/signal-endpoint/x", {}, service=service).status == 401


def check_type_none_serves_default(case: Case) -> None:
    with case.services.run_service({"AUTH_TYPE": "none"}) as service:
        check_default_environment(case, service)


def check_required_tokens(case: Case) -> None:
    service = case.start()
    assert case.request("GET", "/api/admin/projects", service=service).status == 401
    check_default_environment(case, service)


def check_access_of_tokens(case: Case) -> None:
    paths = {
        "client": "/api/client/features",
        "frontend": "/api/frontend",
        "admin": "/api/admin/projects",
    }
    with case.create_api_token("client") as client, case.create_api_token("frontend") as frontend:
        secrets = {"client": client, "frontend": frontend, "admin": ADMIN_SECRET}
        for (kind, token), (owner, path) in product(secrets.items(), paths.items()):
            for prefix in ("", "Bearer ", "bearer  "):
                status = case.request("GET", path, token=prefix + token).status
                assert status == (200 if kind == owner else 403), (kind, owner)
    for path in paths.values():
        for token in ("", "wrong", client):  # the last one is deleted by now
            assert case.request("GET", path, token=token).status == 401


def check_custom_handler(case: Case) -> None:
    kind = {"authentication": {"type": "custom"}}
    service = case.start(options=kind)
    check_sign_in_response(case, service, "custom", "/spec-sign-in")
    by_header = case.request("GET", "/api/admin/user", service=service, X_Spec_User="eva@b")
    assert by_header.json["user"]["email"] == "eva@b"
    session = case.request("GET", "/spec-sign-in", service=service)
    assert session.status == 303
    (cookie,) = SimpleCookie(session.headers["Set-Cookie"]).values()
    session_cookie = f"{cookie.key}={cookie.value}"
    response = case.request("GET", "/api/admin/user", service=service, Cookie=session_cookie)
    assert response.json["user"]["email"] == "spec@b"
    case.admin("GET", "/api/admin/projects", service=service)


def check_demo_admin(case: Case) -> None:
    service = case.start({"AUTH_TYPE": "demo"})
    answer = sign_in_by_email(case, service, "admin")
    assert find_signed_in_user(case, service, answer) == ADMIN_USER["username"]
    assert sign_in_by_email(case, service, "a@b").status == 200


def check_first_admin(case: Case) -> None:
    """A second start changes nothing."""
    password = {"SERVICE_DEFAULT_ADMIN_PASSWORD": "Other-Horse-8"}
    eva = {"username": "eva", "password": "Other-Horse-8"}
    service = case.start(password)
    assert find_signed_in_user(case, service, case.sign_in(service, **eva)) == "eva"
    assert case.services.query(service, "SELECT role_id FROM users") == [(1,)]
    service.close()
    other = service.environ | {"SERVICE_DEFAULT_ADMIN_USERNAME": "bob"}
    with case.services.run_service(other) as second:
        assert case.sign_in(second, username="bob", password="Other-Horse-8").status == 401
        assert case.sign_in(second, **eva).status == 200


IN_CODE = [
    {"type": "CLIENT", "secret": "*:production.code", "environment": "production", "project": "*"}
]
LISTS = {
    "INIT_ADMIN_API_TOKENS": ("*:*.aaa, *:*.bbb", "/api/admin/projects"),
    "INIT_CLIENT_API_TOKENS": ("*:development.aaa,default:production.bbb", "/api/client/features"),
    "INIT_FRONTEND_API_TOKENS": ("*:development.ccc,*:production.ddd", "/api/frontend"),
}


def check_first_tokens(case: Case) -> None:
    """Tokens are stored only in an empty table, all or none."""
    secrets, path = LISTS[case.row.variable]
    secrets_of_row = [secret.strip() for secret in secrets.split(",")]
    service = case.services.start({"INIT_ADMIN_API_TOKENS": ""} | case.row.environ, {})
    for secret in secrets_of_row:
        assert case.request("GET", path, token=secret, service=service).status == 200
    names = case.services.query(service, "SELECT token_name FROM api_tokens")
    assert len(names) == len(secrets_of_row)
    assert all(name for (name,) in names)
    if case.row.variable == "INIT_CLIENT_API_TOKENS":
        service.close()
        late = {case.row.variable: "*:development.late"}
        with case.services.run_service(service.environ | late) as second:
            answer = case.request("GET", path, token="*:development.late", service=second)
            assert answer.status == 401
    messages = case.services.open_once(start_with_invalid_tokens, case.services)
    for name in (case.row.variable, f"{case.row.variable} nowhere"):
        for place in range(2, len(INVALID_TOKENS.get(name, ())) + 1):
            pattern = rf"{case.row.variable}.*: token {place}: "
            assert re.search(pattern, messages[name]), messages[name]
        assert "token 1:" not in messages.get(name, "")


_ADMIN = {"type": "ADMIN", "secret": "*:*.hunter2", "environment": "*", "project": "*"}
_SHAPES = ["*:development.good", "hunter2", "default:*.hunter2", "*:*hunter2", "*:*.hunter2"]
_PLACES = ["*:development.good", "*:nowhere.hunter2", "nowhere:development.hunter2"]
# Values of the variable that the name begins with, or values in code.
INVALID_TOKENS: dict[str, list[Any]] = {
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
def start_with_invalid_tokens(services: Services) -> Iterator[dict[str, str]]:
    """Yields the error messages for INVALID_TOKENS; none contains a secret."""
    basis = services.make_environ()
    cases: dict[str, tuple[dict[str, str], dict[str, Any]]] = {}
    for name, tokens in INVALID_TOKENS.items():
        if name.startswith("INIT_"):
            cases[name] = (basis | {name.partition(" ")[0]: ",".join(tokens)}, {})
        else:
            cases[name] = (basis, {"authentication": {"initApiTokens": tokens}})
    with start_together(cases) as messages:
        assert all("Error: " in text for text in messages.values()), messages
        yield messages


def check_scopes(case: Case) -> None:
    """Admin tokens are for everything, in secret and fields; others for one environment."""
    messages = case.services.open_once(start_with_invalid_tokens, case.services)["scopes"]
    for place in range(1, 5):
        assert re.search(rf"initApiTokens.*: token {place}: ", messages), messages


def check_labels(case: Case) -> None:
    """A token of the variables gets a name, an environment and a project."""
    tokens = case.services.open_once(list_initial_tokens, case.services)
    scopes = {(token["type"], token["environment"], token["project"]) for token in tokens}
    assert scopes == {("admin", "*", "*"), ("client", "production", "*")}
    assert all(token["tokenName"] for token in tokens)


@contextmanager
def list_initial_tokens(services: Services) -> Iterator[list[dict[str, Any]]]:
    code = {"authentication": {"initApiTokens": IN_CODE}}
    with services.run_service({}, code) as service:
        yield service.request("GET", "/api/admin/api-tokens", secret=ADMIN_SECRET)[1]["tokens"]


def check_token_types(case: Case) -> None:
    messages = case.services.open_once(start_with_invalid_tokens, case.services)["types"]
    assert "ADMIN, CLIENT or FRONTEND" in messages
    check_access_of_tokens(case)


ROWS = (
    Row(
        "authentication.enableApiToken",
        check_required_tokens,
        "AUTH_ENABLE_API_TOKEN",
        "false",
        alone=True,
    ),
    Row("authentication.type", check_types, "AUTH_TYPE", alone=True),
    Row(
        "authentication.customAuthHandler",
        check_custom_handler,
        code={"call": "custom_auth_handler"},
        alone=True,
    ),
    Row(
        "authentication.initialAdminUser",
        check_first_admin,
        "SERVICE_DEFAULT_ADMIN_USERNAME",
        "eva",
        alone=True,
    ),
    *(
        Row("authentication.initApiTokens", check_first_tokens, name, text, alone=True)
        for name, (text, _) in LISTS.items()
    ),
    Row(
        "authentication.demoAllowAdminLogin",
        check_demo_admin,
        "AUTH_DEMO_ALLOW_ADMIN_LOGIN",
        "true",
        alone=True,
    ),
    Row("API token: environment and project, * for all", check_labels, alone=True),
    Row("API token: admin secrets start with *:*. and target everything", check_scopes, alone=True),
    Row("API token: type is ADMIN, CLIENT or FRONTEND", check_token_types),
    Row(
        "API token: those of variables get an owner label automatically",
        check_labels,
        alone=True,
    ),
    Row(
        "authentication: none serves the default environment without a token",
        check_type_none_serves_default,
        alone=True,
    ),
    Row("authentication: API tokens are required unless switched off", check_access_of_tokens),
)

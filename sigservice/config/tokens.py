"""API tokens named in the configuration, checked all or nothing (specification, API token)."""

from __future__ import annotations

from typing import Any

from sigservice.errors import AppError, BadDataError

TYPES = {"admin": "admin", "client": "client", "backend": "client", "frontend": "frontend"}
KEYS = {"type", "secret", "environment", "project", "projects", "username", "tokenName"}


def from_secret(kind: str, secret: str) -> dict[str, Any]:
    """The token that a variable's secret stands for: `project:environment.rest`.

    Raises BadDataError when the secret has another shape.
    """
    project, colon, rest = secret.partition(":")
    environment, dot, tail = rest.partition(".")
    if not (colon and dot and project and environment and tail):
        raise BadDataError("its shape is not project:environment.secret")
    return checked(
        {"type": kind, "secret": secret, "environment": environment, "projects": [project]}
    )


def checked(token: dict[str, Any]) -> dict[str, Any]:
    """A token record {type, secret, environment, projects, username}; raises BadDataError."""
    if set(token) - KEYS:
        raise BadDataError("it has a key that is none of " + ", ".join(sorted(KEYS)))
    kind = TYPES.get(str(token.get("type", "")).lower())
    secret, environment = token.get("secret"), token.get("environment")
    projects = token.get("projects") or [token.get("project")]
    if kind is None:
        raise BadDataError("its type is none of ADMIN, CLIENT, FRONTEND")
    if not isinstance(secret, str) or not secret.isascii() or not secret.isprintable():
        raise BadDataError("its secret is not printable ASCII text")
    if " " in secret or not 1 <= len(secret) <= 1000:
        raise BadDataError("its secret has a blank, is empty or longer than 1000 characters")
    if not isinstance(projects, list | tuple) or not all(
        isinstance(p, str) and p for p in projects
    ):
        raise BadDataError("its projects are not a list of names")
    if "*" in projects and len(set(projects)) > 1:
        raise BadDataError("its projects are both * and others; name either")
    if not isinstance(environment, str):
        raise BadDataError("it names no environment")
    if kind == "admin":
        if environment != "*" or projects != ["*"] or not secret.startswith("*:*."):
            raise BadDataError(
                "an admin token starts with *:*. and targets all environments and projects"
            )
    elif environment in ("", "*"):
        raise BadDataError("a client or frontend token names one environment")
    return {
        "type": kind,
        "secret": secret,
        "environment": environment,
        "projects": projects,
        "username": str(token.get("username") or token.get("tokenName") or kind),
    }


def collect(
    in_code: list[dict[str, Any]], lists: dict[str, list[str]]
) -> list[tuple[str, dict[str, Any]]]:
    """All configured tokens with where each stands, code first, one for each secret.

    `lists` maps a variable to its secrets. Raises BadDataError whose details name each bad token by
    its variable (`path`) and its position; they never show the secret.
    """
    kinds = {
        "INIT_ADMIN_API_TOKENS": "admin",
        "INIT_CLIENT_API_TOKENS": "client",
        "INIT_FRONTEND_API_TOKENS": "frontend",
    }
    tokens: dict[str, tuple[str, dict[str, Any]]] = {}
    problems = []
    jobs: list[tuple[str, Any, dict[str, Any] | str, str]] = [
        ("authentication.initApiTokens", checked, token, "") for token in in_code
    ]
    positions: dict[str, int] = {}
    for variable, secrets in lists.items():
        jobs += [(variable, from_secret, secret, kinds[variable]) for secret in secrets]
    for name, make, source, kind in jobs:
        positions[name] = positions.get(name, 0) + 1
        origin = f"{name}: token {positions[name]}"
        try:
            token = make(kind, source) if kind else make(source)
        except AppError as error:
            line = f"token {positions[name]}: {error.message}"
            problems.append({"path": name, "message": line})
        else:
            tokens.setdefault(token["secret"], (origin, token))
    if problems:
        raise BadDataError("tokens", details=problems)
    return list(tokens.values())

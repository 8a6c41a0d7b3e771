"""API tokens of the configuration. One invalid token rejects all (specification, API token)."""

from typing import Any

from sigservice.errors import AppError, BadDataError

TYPES = {"admin": "admin", "client": "client", "backend": "client", "frontend": "frontend"}
KEYS = {"type", "secret", "environment", "project", "projects", "username", "tokenName"}


def parse_secret(kind: str, secret: str) -> dict[str, Any]:
    """The token of a secret in a variable, `project:environment.rest`.

    Raises BadDataError if the secret has another format.
    """
    project, colon, rest = secret.partition(":")
    environment, dot, tail = rest.partition(".")
    if not (colon and dot and project and environment and tail):
        raise BadDataError("it must have the form project:environment.secret")
    return check_token(
        {"type": kind, "secret": secret, "environment": environment, "projects": [project]}
    )


def check_token(token: dict[str, Any]) -> dict[str, Any]:
    """The token as {type, secret, environment, projects, username}; raises BadDataError."""
    if set(token) - KEYS:
        raise BadDataError("its keys must be among " + ", ".join(sorted(KEYS)))
    kind = TYPES.get(str(token.get("type", "")).lower())
    secret, environment = token.get("secret"), token.get("environment")
    projects = token.get("projects") or [token.get("project")]
    if kind is None:
        raise BadDataError("its type must be ADMIN, CLIENT or FRONTEND")
    if not isinstance(secret, str) or not secret.isascii() or not secret.isprintable():
        raise BadDataError("its secret must be printable ASCII text")
    if " " in secret or not 1 <= len(secret) <= 1000:
        raise BadDataError("its secret must have 1 to 1000 characters and no spaces")
    if not isinstance(projects, list | tuple) or not all(
        isinstance(p, str) and p for p in projects
    ):
        raise BadDataError("its projects must be a list of names")
    if "*" in projects and len(set(projects)) > 1:
        raise BadDataError("its projects must be either * or names")
    if not isinstance(environment, str):
        raise BadDataError("it must have an environment")
    if kind == "admin":
        if environment != "*" or projects != ["*"] or not secret.startswith("*:*."):
            raise BadDataError(
                "an admin token must start with *:*. and apply to all environments and projects"
            )
    elif environment in ("", "*"):
        raise BadDataError("a client or frontend token must have one environment")
    return {
        "type": kind,
        "secret": secret,
        "environment": environment,
        "projects": projects,
        "username": str(token.get("username") or token.get("tokenName") or kind),
    }


def collect_tokens(
    in_code: list[dict[str, Any]], lists: dict[str, list[str]]
) -> list[tuple[str, dict[str, Any]]]:
    """All configured tokens with their labels, those in code first, without duplicate secrets.

    `lists` maps a variable to its secrets. Raises BadDataError with a detail for each invalid
    token: its variable as `path` and its position, never its secret.
    """
    kinds = {
        "INIT_ADMIN_API_TOKENS": "admin",
        "INIT_CLIENT_API_TOKENS": "client",
        "INIT_FRONTEND_API_TOKENS": "frontend",
    }
    tokens: dict[str, tuple[str, dict[str, Any]]] = {}
    problems = []
    sources: list[tuple[str, Any, dict[str, Any] | str, str]] = [
        ("authentication.initApiTokens", check_token, token, "") for token in in_code
    ]
    positions: dict[str, int] = {}
    for variable, secrets in lists.items():
        sources += [(variable, parse_secret, secret, kinds[variable]) for secret in secrets]
    for name, parse, token_source, kind in sources:
        positions[name] = positions.get(name, 0) + 1
        label = f"{name}: token {positions[name]}"
        try:
            token = parse(kind, token_source) if kind else parse(token_source)
        except AppError as error:
            line = f"token {positions[name]}: {error.message}"
            problems.append({"path": name, "message": line})
        else:
            tokens.setdefault(token["secret"], (label, token))
    if problems:
        raise BadDataError("tokens", details=problems)
    return list(tokens.values())

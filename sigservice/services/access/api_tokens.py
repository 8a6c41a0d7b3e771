"""API tokens: whose a secret is, creation with its rules, expiry, deletion, and those that the
configuration names at the first start.

A change is seen by the very next request of every process: see services/revisions.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sigservice import secrets
from sigservice.clock import format_iso, parse_iso
from sigservice.config.tokens import TYPES
from sigservice.db.pool import Connection
from sigservice.db.statements import Row
from sigservice.errors import BadDataError, ConfigError, ExceedsLimitError, NotFoundError, Problem
from sigservice.repository.access import api_tokens
from sigservice.services import revisions
from sigservice.services.identity import SYSTEM_ID, Identity
from sigservice.services.problems import Problems
from sigservice.services.system import events

MAX_TOKENS = 2000
ALL = "*"
_NO_DATE = "expiresAt is a date such as 2030-12-31T23:59:59Z."
_INIT = Identity(SYSTEM_ID, "init-api-tokens", frozenset())


@dataclass(frozen=True)
class TokenFields:
    """A new token's checked data; whether environment and projects exist is asked on creation."""

    name: str
    type: str
    environment: str
    projects: tuple[str, ...]
    expires_at: datetime | None = None


def check_fields(
    *,
    name: str | None,
    type: str,
    environment: str | None,
    projects: Sequence[str] | None,
    expires_at: str | None,
) -> TokenFields:
    """Raises BadDataError naming each field that is wrong."""
    problems = Problems()
    name = (name or "").strip()
    if not 1 <= len(name) <= 100:
        problems.add("tokenName", "A token's name has 1 to 100 characters.")
    kind = TYPES.get(type.strip().lower(), "")
    if not kind:
        problems.add("type", "The type is one of client, backend, frontend and admin.")
    environment = environment or (ALL if kind == "admin" else "development")
    named = tuple(dict.fromkeys([ALL] if projects is None else projects))
    if not named:
        problems.add("projects", "Name at least one project, or * for all.")
    if ALL in named and len(named) > 1:
        problems.add("projects", "Choose either all projects (*) or some of them, not both.")
    if kind == "admin":
        if environment != ALL:
            problems.add("environment", "An admin token is for all environments (*).")
        if named and ALL not in named:
            problems.add("projects", "An admin token is for all projects (*).")
    elif environment == ALL:
        problems.add("environment", "A client or frontend token names one environment.")
    expires = parse_iso(expires_at) if expires_at else None
    if expires_at and expires is None:
        problems.add("expiresAt", _NO_DATE)
    problems.raise_if_any()
    return TokenFields(name, kind, environment, named, expires)


def find_valid(conn: Connection, secret: str, *, now: datetime) -> Row | None:
    """{id, token_name, type, environment, projects, expires_at}; None when unknown or expired."""
    return api_tokens.find(conn, secrets.sha256(secret), now)


def create(conn: Connection, new: TokenFields, by: Identity) -> tuple[Row, str]:
    """The token and its secret, which is seen here and never again.

    Raises BadDataError (no such environment, project), ExceedsLimitError.
    """
    revisions.lock(conn)
    _check_scope(conn, new)
    if api_tokens.count(conn) >= MAX_TOKENS:
        raise ExceedsLimitError(
            f"There can't be more than {MAX_TOKENS} API tokens.",
            resource="apiTokens",
            limit=MAX_TOKENS,
        )
    scope = new.projects[0] if len(new.projects) == 1 else "[]"
    secret = f"{scope}:{new.environment}.{secrets.generate_hex_secret()}"
    row = api_tokens.insert(
        conn,
        secret_hash=secrets.sha256(secret),
        secret_prefix=f"{scope}:{new.environment}.{secret.rpartition('.')[2][:4]}",
        token_name=new.name,
        type=new.type,
        environment=new.environment,
        projects=list(new.projects),
        expires_at=new.expires_at,
        created_by=by.username,
        created_by_user_id=by.user_id,
    )
    revisions.bump_tokens(conn)
    _record(conn, "api-token-created", by, after=row)
    return row, secret


def check_project(conn: Connection, project: str) -> None:
    """Raises NotFoundError."""
    scope = api_tokens.find_scope(conn, environment="", projects=[project])
    if scope["unknown_projects"]:
        raise NotFoundError("There is no such project.")


def find(conn: Connection, token: str | int) -> Row | None:
    """By its id; by its secret or its id when it is text."""
    if isinstance(token, int):
        return api_tokens.find_to_change(conn, secret_hash=b"", id=token)
    id = int(token) if token.isascii() and token.isdigit() and len(token) < 19 else None
    return api_tokens.find_to_change(conn, secret_hash=secrets.sha256(token), id=id)


def get(conn: Connection, id: int) -> Row:
    """Raises NotFoundError."""
    return _found(find(conn, id))


def update(conn: Connection, token: str, expires_at: str, by: Identity) -> None:
    """Sets when it expires; an unknown token is passed over. Raises BadDataError."""
    moment = parse_iso(expires_at)
    if moment is None:
        raise BadDataError(_NO_DATE, path="expiresAt")
    revisions.lock(conn)
    before = find(conn, token)
    after = api_tokens.update(conn, before["id"], expires_at=moment) if before else None
    if before is None or after is None:
        return
    revisions.bump_tokens(conn)
    _record(conn, "api-token-updated", by, before=before, after=after)


def delete(conn: Connection, token: str | int, by: Identity) -> None:
    """Its next request is refused; an unknown token is passed over."""
    revisions.lock(conn)
    before = find(conn, token)
    if before is None:
        return
    api_tokens.delete(conn, before["id"])
    revisions.bump_tokens(conn)
    _record(conn, "api-token-deleted", by, before=before)


def delete_from_project(conn: Connection, project: str, token: str, by: Identity) -> None:
    """Raises NotFoundError; BadDataError when the token opens more or other than `project`."""
    revisions.lock(conn)
    row = _found(find(conn, token))
    if row["projects"] != [project]:
        raise BadDataError("This token is not for this project alone.")
    delete(conn, row["id"], by)


def remove_project(conn: Connection, project: str, by: Identity) -> None:
    """For the deletion of a project: tokens lose it, and go when it was their last one. An id
    that is used again later opens nothing for them."""
    revisions.lock(conn)
    deleted = api_tokens.delete_of_project(conn, project)
    updated = api_tokens.remove_project(conn, project)
    if deleted or updated:
        revisions.bump_tokens(conn)
    gone = [{"project": project, "pre_data": to_json(row)} for row in deleted]
    events.record_many(conn, "api-token-deleted", by, gone)
    narrowed = [
        {
            "project": project,
            "data": to_json(row),
            "pre_data": to_json(row | {"projects": [*row["projects"], project]}),
        }
        for row in updated
    ]
    events.record_many(conn, "api-token-updated", by, narrowed)


def create_initial(
    conn: Connection, tokens: Sequence[dict[str, Any]], origins: Sequence[str] = ()
) -> int:
    """Stores the configured tokens if there are none at all; returns how many it stored.

    All or none: raises ConfigError with each token, by where it stands in the configuration, whose
    environment or project there is not.
    """
    if not tokens:
        return 0
    api_tokens.lock(conn)
    if api_tokens.count(conn):
        return 0
    _check_initial(conn, tokens, origins)
    for token in tokens:
        project = token["projects"][0] if len(token["projects"]) == 1 else "[]"
        api_tokens.insert(
            conn,
            secret_hash=secrets.sha256(token["secret"]),
            secret_prefix=f"{project}:{token['environment']}",
            token_name=token["username"],
            type=token["type"],
            environment=token["environment"],
            projects=token["projects"],
            created_by=_INIT.username,
            created_by_user_id=_INIT.user_id,
        )
        shown = {key: value for key, value in token.items() if key != "secret"}
        events.record(conn, "api-token-created", _INIT, data=shown)
    return len(tokens)


def _check_initial(
    conn: Connection, tokens: Sequence[dict[str, Any]], origins: Sequence[str]
) -> None:
    there = api_tokens.find_choices(conn)
    problems = []
    for token, origin in zip(tokens, origins, strict=False):
        wrong = []
        if token["environment"] not in (ALL, *there["environments"]):
            wrong.append(f"there is no environment {token['environment'][:100]}")
        missing = [p for p in token["projects"] if p not in (ALL, *there["projects"])]
        if missing:
            wrong.append(f"there is no project {', '.join(missing)[:200]}")
        problems += [
            Problem(origin, "environments and projects that there are", "*:development", text)
            for text in wrong
        ]
    if problems:
        raise ConfigError(problems)


def to_json(row: Row) -> dict[str, Any]:
    """A token on the wire; `secretPrefix` is what is still visible of the secret."""
    return {
        "id": row["id"],
        "secretPrefix": row["secret_prefix"],
        "tokenName": row["token_name"],
        "type": row["type"],
        "environment": row["environment"],
        "project": ",".join(row["projects"]),
        "projects": row["projects"],
        "createdAt": format_iso(row["created_at"]),
        "expiresAt": format_iso(row["expires_at"]) if row["expires_at"] else None,
        "seenAt": format_iso(row["seen_at"]) if row["seen_at"] else None,
        "createdBy": row["created_by"],
        "createdByUserId": row["created_by_user_id"],
        "alias": None,
    }


def _check_scope(conn: Connection, new: TokenFields) -> None:
    projects = [name for name in new.projects if name != ALL]
    scope = api_tokens.find_scope(conn, environment=new.environment, projects=projects)
    problems = Problems()
    if new.environment != ALL and not scope["has_environment"]:
        problems.add("environment", f"There is no environment {new.environment[:100]}.")
    if scope["unknown_projects"]:
        names = ", ".join(scope["unknown_projects"])
        problems.add("projects", f"There is no project {names[:200]}.")
    problems.raise_if_any()


def _record(
    conn: Connection,
    type: str,
    by: Identity,
    *,
    before: Row | None = None,
    after: Row | None = None,
) -> None:
    row = after or before or {}
    only = row["projects"][0] if len(row["projects"]) == 1 else ALL
    events.record(
        conn,
        type,
        by,
        data=to_json(after) if after else None,
        pre_data=to_json(before) if before else None,
        project=None if only == ALL else only,
        environment=None if row["environment"] == ALL else row["environment"],
    )


def _found(row: Row | None) -> Row:
    if row is None:
        raise NotFoundError("There is no such API token.")
    return row

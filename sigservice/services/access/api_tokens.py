"""API tokens: validation, creation, expiry, deletion, and the tokens that the configuration creates
at the first start.

A change takes effect with the next request of every process: see services/revisions.py.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from sigservice.clock import format_iso, format_optional, parse_iso
from sigservice.config.tokens import TYPES
from sigservice.crypto import secrets
from sigservice.db import Connection, Row
from sigservice.errors import BadDataError, ConfigError, NotFoundError, Problem, require_found
from sigservice.repository.access import api_tokens
from sigservice.services import revisions
from sigservice.services.identity import SYSTEM_ID, Identity
from sigservice.services.problems import Problems, build_limit_error
from sigservice.services.system import events

MAX_TOKENS = 2000
ALL = "*"
_INVALID_DATE = "expiresAt must be a date such as 2030-12-31T23:59:59Z."
_MASK = "****"
_NOT_FOUND = "API token not found."
_INIT = Identity(SYSTEM_ID, "init-api-tokens", frozenset())


@dataclass(frozen=True)
class TokenFields:
    """The checked fields of a new token; `create` checks that environment and projects exist."""

    name: str
    type: str
    environment: str
    projects: tuple[str, ...]
    expires_at: datetime | None = None


class TokenScope(NamedTuple):
    projects: tuple[str, ...]
    expires_at: datetime | None

    def has_expired(self, now: datetime) -> bool:
        return self.expires_at is not None and self.expires_at <= now


def check_fields(
    *,
    name: str | None,
    type: str,
    environment: str | None,
    projects: Sequence[str] | None,
    expires_at: str | None,
) -> TokenFields:
    """Raises BadDataError with each invalid field."""
    problems = Problems()
    name = (name or "").strip()
    if not 1 <= len(name) <= 100:
        problems.add("tokenName", "The name must have 1 to 100 characters.")
    type = TYPES.get(type.strip().lower(), "")
    if not type:
        problems.add("type", "The type must be client, backend, frontend or admin.")
    environment = environment or (ALL if type == "admin" else "development")
    projects = tuple(dict.fromkeys([ALL] if projects is None else projects))
    if not projects:
        problems.add("projects", "Choose at least one project, or * for all.")
    if ALL in projects and len(projects) > 1:
        problems.add("projects", "Choose either all projects (*) or selected projects, not both.")
    if type == "admin":
        if environment != ALL:
            problems.add("environment", "An admin token must be for all environments (*).")
        if projects and ALL not in projects:
            problems.add("projects", "An admin token must be for all projects (*).")
    elif environment == ALL:
        problems.add("environment", "A client or frontend token must have one environment.")
    expires = parse_iso(expires_at) if expires_at else None
    if expires_at and expires is None:
        problems.add("expiresAt", _INVALID_DATE)
    problems.raise_if_any()
    return TokenFields(name, type, environment, projects, expires)


def find_valid(conn: Connection, secret: str, *, now: datetime) -> Row | None:
    """{id, token_name, type, environment, projects, expires_at}; None when unknown or expired."""
    return api_tokens.find(conn, secrets.sha256(secret), now)


def list_scopes(conn: Connection, ids: list[int]) -> dict[int, TokenScope]:
    """The scopes of the tokens that exist, by token ID."""
    rows = api_tokens.list_scopes(conn, ids)
    return {row["id"]: TokenScope(tuple(row["projects"]), row["expires_at"]) for row in rows}


def create(conn: Connection, new: TokenFields, by: Identity) -> tuple[Row, str]:
    """The token and its secret, which isn't stored.

    Raises BadDataError if the environment or a project doesn't exist, and ExceedsLimitError.
    """
    revisions.lock(conn)
    _check_scope(conn, new)
    if api_tokens.count(conn) >= MAX_TOKENS:
        raise build_limit_error(MAX_TOKENS, "API token", "apiTokens")
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
    scope = api_tokens.find_missing_scope(conn, environment="", projects=[project])
    if scope["unknown_projects"]:
        raise NotFoundError("Project not found.")


def find(conn: Connection, token: str | int) -> Row | None:
    """Finds a token by its ID; text may also be its secret. Raises BadDataError for a masked one,
    so that a client doesn't take the token as deleted."""
    if isinstance(token, int):
        return api_tokens.find_to_change(conn, secret_hash=b"", id=token)
    if token.endswith(_MASK):
        raise BadDataError("The secret is masked: use the ID of the token.", path="token")
    id = int(token) if token.isascii() and token.isdigit() and len(token) < 19 else None
    return api_tokens.find_to_change(conn, secret_hash=secrets.sha256(token), id=id)


def get(conn: Connection, id: int) -> Row:
    """Raises NotFoundError."""
    return require_found(find(conn, id), _NOT_FOUND)


def update(conn: Connection, token: str, expires_at: str, by: Identity) -> None:
    """Sets the expiry date; ignores an unknown token. Raises BadDataError."""
    expiry = parse_iso(expires_at)
    if expiry is None:
        raise BadDataError(_INVALID_DATE, path="expiresAt")
    revisions.lock(conn)
    before = find(conn, token)
    if before is None:
        return
    api_tokens.update(conn, before["id"], expires_at=expiry)
    revisions.bump_tokens(conn)
    _record(conn, "api-token-updated", by, before=before, after=before | {"expires_at": expiry})


def delete(conn: Connection, token: str | int, by: Identity) -> None:
    """Ignores an unknown token."""
    revisions.lock(conn)
    before = find(conn, token)
    if before is None:
        return
    api_tokens.delete(conn, before["id"])
    revisions.bump_tokens(conn)
    _record(conn, "api-token-deleted", by, before=before)


def delete_from_project(conn: Connection, project: str, token: str, by: Identity) -> None:
    """Raises NotFoundError, and BadDataError unless the token is limited to `project`."""
    revisions.lock(conn)
    row = require_found(find(conn, token), _NOT_FOUND)
    if row["projects"] != [project]:
        raise BadDataError("This token is not limited to this project.")
    delete(conn, row["id"], by)


def remove_project(conn: Connection, project: str, by: Identity) -> None:
    """Removes a deleted project from its tokens and deletes tokens without another project, so none
    of them can access a later project with the same ID."""
    rows = api_tokens.list_of_project(conn, project)
    if rows:
        api_tokens.remove_project(conn, project)
        revisions.bump_tokens(conn)
    deleted, updated = [], []
    for row in rows:
        projects = [id for id in row["projects"] if id != project]
        event = {"project": project, "pre_data": to_json(row)}
        if projects:
            updated.append(event | {"data": to_json(row | {"projects": projects})})
        else:
            deleted.append(event)
    events.record_many(conn, "api-token-deleted", by, deleted)
    events.record_many(conn, "api-token-updated", by, updated)


def create_initial(
    conn: Connection, tokens: Sequence[dict[str, Any]], labels: Sequence[str] = ()
) -> int:
    """Stores the configured tokens if there are no tokens yet; returns their number.

    Raises ConfigError, and stores none, if an environment or a project of a token doesn't exist;
    `labels` say where the tokens are in the configuration.
    """
    if not tokens:
        return 0
    api_tokens.lock(conn)
    if api_tokens.count(conn):
        return 0
    _check_initial(conn, tokens, labels)
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
        data = {key: value for key, value in token.items() if key != "secret"}
        events.record(conn, "api-token-created", _INIT, data=data)
    return len(tokens)


def _check_initial(
    conn: Connection, tokens: Sequence[dict[str, Any]], labels: Sequence[str]
) -> None:
    choices = api_tokens.find_choices(conn)
    problems = []
    for token, label in zip(tokens, labels, strict=False):
        messages = []
        if token["environment"] not in (ALL, *choices["environments"]):
            messages.append(f"environment {token['environment'][:100]} not found")
        missing = [p for p in token["projects"] if p not in (ALL, *choices["projects"])]
        if missing:
            messages.append(f"project {', '.join(missing)[:200]} not found")
        problems += [
            Problem(label, "existing environments and projects", "*:development", message)
            for message in messages
        ]
    if problems:
        raise ConfigError(problems)


def mask_secret(row: Row) -> str:
    """What can be shown of the secret, for clients that require the member `secret`."""
    return f"{row['secret_prefix']}{_MASK}"


def to_json(row: Row) -> dict[str, Any]:
    """The token in the API; `secretPrefix` is the beginning of the secret."""
    return {
        "id": row["id"],
        "secretPrefix": row["secret_prefix"],
        "tokenName": row["token_name"],
        "type": row["type"],
        "environment": row["environment"],
        "project": ",".join(row["projects"]),
        "projects": row["projects"],
        "createdAt": format_iso(row["created_at"]),
        "expiresAt": format_optional(row["expires_at"]),
        "seenAt": format_optional(row["seen_at"]),
        "createdBy": row["created_by"],
        "createdByUserId": row["created_by_user_id"],
        "alias": None,
    }


def _check_scope(conn: Connection, new: TokenFields) -> None:
    projects = [name for name in new.projects if name != ALL]
    scope = api_tokens.find_missing_scope(conn, environment=new.environment, projects=projects)
    problems = Problems()
    if new.environment != ALL and not scope["has_environment"]:
        problems.add("environment", f"Environment {new.environment[:100]} not found.")
    if scope["unknown_projects"]:
        names = ", ".join(scope["unknown_projects"])
        problems.add("projects", f"Project {names[:200]} not found.")
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
    project = row["projects"][0] if len(row["projects"]) == 1 else ALL
    events.record(
        conn,
        type,
        by,
        data=to_json(after) if after else None,
        pre_data=to_json(before) if before else None,
        project=None if project == ALL else project,
        environment=None if row["environment"] == ALL else row["environment"],
    )

"""Service accounts: machine users, which authenticate with personal tokens and have no password."""

from collections.abc import Mapping, Sequence
from typing import Any

from sigservice.clock import format_iso
from sigservice.db import Connection, Row
from sigservice.errors import BadDataError, require_found
from sigservice.repository.access import personal_tokens as personal_token_rows
from sigservice.repository.access import service_accounts
from sigservice.services.access import personal_tokens, users
from sigservice.services.identity import Identity
from sigservice.services.system import events

_BLANK = {"username": None, "email": None, "name": None, "role_id": users.ROLE_IDS["viewer"]}


def create(conn: Connection, changes: Mapping[str, Any], by: Identity) -> Row:
    """`changes` may have username, name and root_role. Raises BadDataError."""
    username, name, role_id = _check_changes(_BLANK, changes)
    with users.name_duplicate():
        id = service_accounts.insert(conn, username=username, name=name, role_id=role_id)
    row = get(conn, id)
    events.record(conn, "service-account-created", by, data=to_json(row))
    return row


def get(conn: Connection, id: int) -> Row:
    """Raises NotFoundError."""
    return require_found(service_accounts.find(conn, id), "Service account not found.")


def update(conn: Connection, id: int, changes: Mapping[str, Any], by: Identity) -> Row:
    """Raises NotFoundError, BadDataError."""
    service_accounts.lock(conn, id)
    before = get(conn, id)
    username, name, role_id = _check_changes(before, changes)
    with users.name_duplicate():
        service_accounts.update(conn, id, username=username, name=name, role_id=role_id)
    after = get(conn, id)
    if after != before:
        data, pre_data = to_json(after), to_json(before)
        events.record(conn, "service-account-updated", by, data=data, pre_data=pre_data)
    return after


def delete(conn: Connection, id: int, by: Identity) -> None:
    """Deletes its tokens too. Raises NotFoundError."""
    service_accounts.lock(conn, id)
    before = get(conn, id)
    service_accounts.delete(conn, id)
    events.record(conn, "service-account-deleted", by, pre_data=to_json(before))


def list_tokens(conn: Connection, id: int) -> list[Row]:
    """Raises NotFoundError."""
    get(conn, id)
    return personal_token_rows.list_of_users(conn, [id])


def create_token(
    conn: Connection, id: int, new: personal_tokens.PersonalTokenFields, by: Identity
) -> tuple[Row, str]:
    """Raises NotFoundError, ExceedsLimitError, NameExistsError."""
    get(conn, id)
    return personal_tokens.create(conn, id, new, by)


def delete_token(conn: Connection, id: int, token_id: int, by: Identity) -> None:
    """Raises NotFoundError."""
    get(conn, id)
    personal_tokens.delete(conn, id, token_id, by)


def to_json(row: Row, tokens: Sequence[Row] = ()) -> dict[str, Any]:
    """The account in the API."""
    return {
        "id": row["id"],
        "name": row["name"],
        "username": row["username"],
        "rootRole": row["role_id"],
        "role": row["role"],
        "isService": True,
        "createdAt": format_iso(row["created_at"]),
        "tokens": [personal_tokens.to_json(token) for token in tokens],
    }


def _check_changes(
    row: Mapping[str, Any], changes: Mapping[str, Any]
) -> tuple[str, str | None, int]:
    """The new username, name and role ID; raises BadDataError."""
    profile = users.apply_changes(row, changes)
    if profile.username is None:
        raise BadDataError("Username is required.", path="username")
    return profile.username, profile.name, profile.role_id

"""Signal endpoints and their tokens: rules, limits and audit.

Limits are decided in the inserting statement under a lock, so they hold when many race.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from sigservice import secrets
from sigservice.clock import format_iso
from sigservice.db.errors import UniqueViolation
from sigservice.db.pool import Connection
from sigservice.db.statements import Row
from sigservice.errors import BadDataError, ExceedsLimitError, NotFoundError
from sigservice.repository.signals import signal_endpoint_tokens, signal_endpoints
from sigservice.services.identity import Identity
from sigservice.services.problems import Problems, build_duplicate_error
from sigservice.services.system import events

TOKEN_PREFIX = "signal_"
_NAME = re.compile(r"[a-z0-9_-]{1,100}")


@dataclass(frozen=True)
class Fields:
    """An endpoint's checked data; `enabled` None keeps what is (true for a new one)."""

    name: str
    description: str | None
    enabled: bool | None


def fields(name: str, description: str | None, enabled: bool | None) -> Fields:
    """Raises BadDataError naming each field that is wrong."""
    problems = Problems()
    if not name:
        problems.add("name", "A name is needed.")
    elif not _NAME.fullmatch(name):
        problems.add("name", "A name has 1 to 100 lower-case letters, digits, - and _.")
    description = (description or "").strip() or None
    problems.check_text(description, "description", max_length=1000).raise_if_any()
    return Fields(name, description, enabled)


def create(conn: Connection, new: Fields, by: Identity, *, limit: int) -> Row:
    """Raises ExceedsLimitError, NameExistsError."""
    signal_endpoints.lock_all(conn)
    try:
        row = signal_endpoints.insert(
            conn,
            name=new.name,
            description=new.description,
            enabled=new.enabled is not False,
            created_by_user_id=by.user_id,
            limit=limit,
        )
    except UniqueViolation as error:
        raise build_duplicate_error(new.name) from error
    if row is None:
        raise ExceedsLimitError(
            f"There can't be more than {limit} signal endpoints.",
            resource="signalEndpoints",
            limit=limit,
        )
    events.record(conn, "signal-endpoint-created", by, data=to_json(row))
    return row


def get(conn: Connection, id: int) -> Row:
    """Raises NotFoundError."""
    return _found(signal_endpoints.find(conn, id))


def update(conn: Connection, id: int, new: Fields, by: Identity) -> Row:
    """Replaces name and description; raises NotFoundError, NameExistsError."""
    before = _found(signal_endpoints.lock(conn, id))
    enabled = before["enabled"] if new.enabled is None else new.enabled
    return _change(conn, before, new.name, new.description, enabled, by)


def switch(conn: Connection, id: int, enabled: bool, by: Identity) -> Row:
    """Raises NotFoundError."""
    before = _found(signal_endpoints.lock(conn, id))
    return _change(conn, before, before["name"], before["description"], enabled, by)


def delete(conn: Connection, id: int, by: Identity) -> None:
    """Its tokens go at once; its signals are unseen at once and removed by the retention job.

    Raises NotFoundError.
    """
    before = _found(signal_endpoints.lock(conn, id))
    signal_endpoints.delete(conn, id)
    events.record(conn, "signal-endpoint-deleted", by, pre_data=to_json(before))


def list_tokens(conn: Connection, endpoint_id: int) -> list[Row]:
    """Raises NotFoundError."""
    get(conn, endpoint_id)
    return signal_endpoint_tokens.list_of_endpoint(conn, endpoint_id)


def get_token(conn: Connection, endpoint_id: int, id: int) -> Row:
    """Raises NotFoundError."""
    return _token_found(signal_endpoint_tokens.find(conn, endpoint_id, id))


def create_token(
    conn: Connection, endpoint_id: int, name: str, by: Identity, *, limit: int
) -> tuple[Row, str]:
    """The token and its secret, which is seen here and never again.

    Raises NotFoundError, BadDataError, ExceedsLimitError, NameExistsError.
    """
    name = token_name(name)
    _found(signal_endpoints.lock(conn, endpoint_id))
    secret = TOKEN_PREFIX + secrets.new_secret()
    try:
        row = signal_endpoint_tokens.insert(
            conn,
            endpoint_id,
            name=name,
            secret_hash=secrets.sha256(secret),
            secret_prefix=secret[: len(TOKEN_PREFIX) + 4],
            created_by_user_id=by.user_id,
            limit=limit,
        )
    except UniqueViolation as error:
        raise build_duplicate_error(name) from error
    if row is None:
        raise ExceedsLimitError(
            f"A signal endpoint can't have more than {limit} tokens.",
            resource="signalTokensPerEndpoint",
            limit=limit,
        )
    events.record(conn, "signal-endpoint-token-created", by, data=token_to_json(row))
    return row, secret


def rename_token(conn: Connection, endpoint_id: int, id: int, name: str, by: Identity) -> Row:
    """Raises NotFoundError, BadDataError, NameExistsError."""
    name = token_name(name)
    _found(signal_endpoints.lock(conn, endpoint_id))
    before = get_token(conn, endpoint_id, id)
    try:
        row = _token_found(signal_endpoint_tokens.rename(conn, endpoint_id, id, name))
    except UniqueViolation as error:
        raise build_duplicate_error(name) from error
    if row["name"] != before["name"]:
        events.record(
            conn,
            "signal-endpoint-token-updated",
            by,
            data=token_to_json(row),
            pre_data=token_to_json(before),
        )
    return row


def delete_token(conn: Connection, endpoint_id: int, id: int, by: Identity) -> None:
    """Its next call is refused. Raises NotFoundError."""
    _found(signal_endpoints.lock(conn, endpoint_id))
    before = get_token(conn, endpoint_id, id)
    signal_endpoint_tokens.delete(conn, endpoint_id, id)
    events.record(conn, "signal-endpoint-token-deleted", by, pre_data=token_to_json(before))


def token_name(name: str) -> str:
    """Raises BadDataError."""
    name = name.strip()
    if not 1 <= len(name) <= 100:
        raise BadDataError("A token's name has 1 to 100 characters.", path="name")
    return name


def to_json(row: Row) -> dict[str, Any]:
    """An endpoint on the wire, without tokens and url."""
    return {
        "id": row["id"],
        "name": row["name"],
        "description": row["description"],
        "enabled": row["enabled"],
        "createdAt": format_iso(row["created_at"]),
        "createdByUserId": row["created_by_user_id"],
    }


def token_to_json(row: Row) -> dict[str, Any]:
    """A token on the wire; `secretPrefix` is what is still visible of the secret."""
    return {
        "id": row["id"],
        "name": row["name"],
        "signalEndpointId": row["signal_endpoint_id"],
        "secretPrefix": row["secret_prefix"],
        "createdAt": format_iso(row["created_at"]),
        "createdByUserId": row["created_by_user_id"],
    }


def _change(
    conn: Connection, before: Row, name: str, description: str | None, enabled: bool, by: Identity
) -> Row:
    try:
        row = _found(
            signal_endpoints.update(
                conn, before["id"], name=name, description=description, enabled=enabled
            )
        )
    except UniqueViolation as error:
        raise build_duplicate_error(name) from error
    if to_json(row) != to_json(before):
        events.record(
            conn, "signal-endpoint-updated", by, data=to_json(row), pre_data=to_json(before)
        )
    return row


def _found(row: Row | None) -> Row:
    if row is None:
        raise NotFoundError("There is no such signal endpoint.")
    return row


def _token_found(row: Row | None) -> Row:
    if row is None:
        raise NotFoundError("There is no such token.")
    return row

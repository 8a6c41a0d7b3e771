"""Signal endpoints and their tokens: rules, limits and events.

The inserting statements check limits under a lock, so that concurrent requests can't exceed them.
"""

import re
from dataclasses import dataclass
from typing import Any

import msgspec

from sigservice import secrets
from sigservice.clock import format_iso
from sigservice.db.errors import UniqueViolation
from sigservice.db.pool import Connection
from sigservice.db.statements import Row
from sigservice.errors import BadDataError, ExceedsLimitError, NotFoundError
from sigservice.repository.signals import signal_endpoint_tokens, signal_endpoints
from sigservice.services.identity import Identity
from sigservice.services.problems import Problems, build_duplicate_error
from sigservice.services.signals.endpoint_options import (
    EndpointOptions,
    check_options,
    parse_options,
)
from sigservice.services.system import events

TOKEN_PREFIX = "signal_"
TOKEN_NAME_ERROR = "The token name must have 1 to 100 characters."
_NAME = re.compile(r"[a-z0-9_-]{1,100}")


@dataclass(frozen=True)
class EndpointFields:
    """An endpoint's checked data; None keeps `enabled` and `options` as they are. A new endpoint is
    enabled and has default options."""

    name: str
    description: str | None
    enabled: bool | None
    options: EndpointOptions | None


def check_fields(
    name: str,
    description: str | None,
    enabled: bool | None,
    options: EndpointOptions | None = None,
    *,
    token_name: str | None = None,
) -> EndpointFields:
    """Raises BadDataError with a detail for each invalid field, also of its first token."""
    problems = Problems()
    if not name:
        problems.add("name", "The name is required.")
    elif not _NAME.fullmatch(name):
        problems.add("name", "The name must be 1 to 100 lower-case letters, digits, - or _.")
    if token_name is not None and not _is_token_name(token_name):
        problems.add("token_name", TOKEN_NAME_ERROR)
    description = (description or "").strip() or None
    problems.check_text(description, "description", max_length=1000)
    if options is not None:
        check_options(options, problems)
    problems.raise_if_any()
    return EndpointFields(name, description, enabled, options)


def create(conn: Connection, fields: EndpointFields, by: Identity, *, limit: int) -> Row:
    """Raises ExceedsLimitError, NameExistsError."""
    signal_endpoints.lock_all(conn)
    try:
        row = signal_endpoints.insert(
            conn,
            name=fields.name,
            description=fields.description,
            enabled=fields.enabled is not False,
            options=_encode(fields.options or EndpointOptions()),
            created_by_user_id=by.user_id,
            limit=limit,
        )
    except UniqueViolation as error:
        raise build_duplicate_error(fields.name) from error
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
    return _require(signal_endpoints.find(conn, id))


def update(conn: Connection, id: int, fields: EndpointFields, by: Identity) -> Row:
    """Replaces name, description and what `fields` has; raises NotFoundError, NameExistsError."""
    before = _require(signal_endpoints.lock(conn, id))
    new: dict[str, Any] = {"name": fields.name, "description": fields.description}
    if fields.enabled is not None:
        new["enabled"] = fields.enabled
    if fields.options is not None:
        new["options"] = _encode(fields.options)
    return _change(conn, before, new, by)


def set_enabled(conn: Connection, id: int, enabled: bool, by: Identity) -> Row:
    """Raises NotFoundError."""
    before = _require(signal_endpoints.lock(conn, id))
    return _change(conn, before, {"enabled": enabled}, by)


def delete(conn: Connection, id: int, by: Identity) -> None:
    """Deletes its tokens and hides its signals; the retention job deletes the signals.

    Raises NotFoundError.
    """
    before = _require(signal_endpoints.lock(conn, id))
    signal_endpoints.delete(conn, id)
    events.record(conn, "signal-endpoint-deleted", by, pre_data=to_json(before))


def list_tokens(conn: Connection, endpoint_id: int) -> list[Row]:
    """Raises NotFoundError."""
    get(conn, endpoint_id)
    return signal_endpoint_tokens.list_for_endpoint(conn, endpoint_id)


def get_token(conn: Connection, endpoint_id: int, id: int) -> Row:
    """Raises NotFoundError."""
    return _require_token(signal_endpoint_tokens.find(conn, endpoint_id, id))


def create_token(
    conn: Connection, endpoint_id: int, name: str, by: Identity, *, limit: int
) -> tuple[Row, str]:
    """Returns the token and its secret, of which only a hash is stored.

    Raises NotFoundError, BadDataError, ExceedsLimitError, NameExistsError.
    """
    name = _check_token_name(name)
    _require(signal_endpoints.lock(conn, endpoint_id))
    secret = TOKEN_PREFIX + secrets.generate_secret()
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
    signal_endpoints.bump_version(conn, endpoint_id)
    events.record(conn, "signal-endpoint-token-created", by, data=token_to_json(row))
    return row, secret


def rename_token(conn: Connection, endpoint_id: int, id: int, name: str, by: Identity) -> Row:
    """Raises NotFoundError, BadDataError, NameExistsError."""
    name = _check_token_name(name)
    _require(signal_endpoints.lock(conn, endpoint_id))
    before = get_token(conn, endpoint_id, id)
    try:
        row = _require_token(signal_endpoint_tokens.rename(conn, endpoint_id, id, name))
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
    """Raises NotFoundError."""
    _require(signal_endpoints.lock(conn, endpoint_id))
    before = get_token(conn, endpoint_id, id)
    signal_endpoint_tokens.delete(conn, endpoint_id, id)
    signal_endpoints.bump_version(conn, endpoint_id)
    events.record(conn, "signal-endpoint-token-deleted", by, pre_data=token_to_json(before))


def _check_token_name(name: str) -> str:
    """The name without surrounding spaces. Raises BadDataError."""
    if not _is_token_name(name):
        raise BadDataError(TOKEN_NAME_ERROR, path="name")
    return name.strip()


def _is_token_name(name: str) -> bool:
    return 1 <= len(name.strip()) <= 100


def to_json(row: Row) -> dict[str, Any]:
    """The JSON of an endpoint, without tokens and url."""
    return {
        "id": row["id"],
        "name": row["name"],
        "description": row["description"],
        "enabled": row["enabled"],
        "options": parse_options(row["options"]),
        "createdAt": format_iso(row["created_at"]),
        "createdByUserId": row["created_by_user_id"],
    }


def token_to_json(row: Row) -> dict[str, Any]:
    """The JSON of a token; of the secret it has the first characters, `secretPrefix`."""
    return {
        "id": row["id"],
        "name": row["name"],
        "signalEndpointId": row["signal_endpoint_id"],
        "secretPrefix": row["secret_prefix"],
        "createdAt": format_iso(row["created_at"]),
        "createdByUserId": row["created_by_user_id"],
    }


def _encode(options: EndpointOptions) -> str:
    return msgspec.json.encode(options).decode()


def _change(conn: Connection, before: Row, new: dict[str, Any], by: Identity) -> Row:
    """`new` has the columns that may change."""
    columns = {name: before[name] for name in ("name", "description", "enabled", "options")} | new
    try:
        row = _require(signal_endpoints.update(conn, before["id"], **columns))
    except UniqueViolation as error:
        raise build_duplicate_error(columns["name"]) from error
    if to_json(row) != to_json(before):
        signal_endpoints.bump_version(conn, row["id"])
        events.record(
            conn, "signal-endpoint-updated", by, data=to_json(row), pre_data=to_json(before)
        )
    return row


def _require(row: Row | None) -> Row:
    if row is None:
        raise NotFoundError("Signal endpoint not found.")
    return row


def _require_token(row: Row | None) -> Row:
    if row is None:
        raise NotFoundError("Token not found.")
    return row

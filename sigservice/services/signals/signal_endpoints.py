"""Signal endpoints: rules, limits and events.

The inserting statement checks the limit under a lock, so that concurrent requests can't exceed it.
"""

import re
from typing import Any

import msgspec
from msgspec import UNSET

from sigservice.clock import format_iso
from sigservice.db import Connection, Row
from sigservice.db.errors import UniqueViolation
from sigservice.errors import require_found
from sigservice.repository.signals import signal_endpoints
from sigservice.services.definitions import clean_text
from sigservice.services.identity import Identity
from sigservice.services.problems import Problems, build_duplicate_error, build_limit_error
from sigservice.services.signals.endpoint_options import (
    EndpointOptions,
    check_options,
    parse_options,
)
from sigservice.services.system import events

NOT_FOUND = "Signal endpoint not found."
_NAME = re.compile(r"[a-z0-9_-]{1,100}")


class Endpoint(msgspec.Struct):
    """Absent `enabled`, `options` and `template` stay as they are. A new endpoint is enabled and
    has default options. `template` is the sender that the endpoint is for."""

    name: str
    enabled: bool | None = None
    description: str | None = None
    options: EndpointOptions | None = None
    template: str | msgspec.UnsetType | None = UNSET


def check_fields(new: Endpoint, *, token_name: str | None = None) -> Endpoint:
    """The endpoint in the form in which it is stored. Raises BadDataError with a detail for each
    invalid field, also of its first token."""
    problems = Problems()
    if not new.name:
        problems.add("name", "The name is required.")
    elif not _NAME.fullmatch(new.name):
        problems.add("name", "The name must be 1 to 100 lower-case letters, digits, - or _.")
    if token_name is not None:
        check_token_name(token_name, problems, "token_name")
    description = clean_text(new.description)
    problems.check_text(description, "description", max_length=1000)
    if new.options is not None:
        check_options(new.options, problems)
    problems.raise_if_any()
    return msgspec.structs.replace(new, description=description)


def create(conn: Connection, fields: Endpoint, by: Identity, *, limit: int) -> Row:
    """Raises ExceedsLimitError, NameExistsError."""
    signal_endpoints.lock_all(conn)
    try:
        row = signal_endpoints.insert(
            conn,
            name=fields.name,
            description=fields.description,
            enabled=fields.enabled is not False,
            options=_encode(fields.options or EndpointOptions()),
            template=fields.template or None,
            created_by_user_id=by.user_id,
            limit=limit,
        )
    except UniqueViolation as error:
        raise build_duplicate_error(fields.name) from error
    if row is None:
        raise build_limit_error(limit, "signal endpoint", "signalEndpoints")
    events.record(conn, "signal-endpoint-created", by, data=to_json(row))
    return row


def get(conn: Connection, id: int) -> Row:
    """Raises NotFoundError."""
    return require_found(signal_endpoints.find(conn, id), NOT_FOUND)


def lock(conn: Connection, id: int) -> Row:
    """The endpoint. No other transaction changes it or its tokens before this one ends. Raises
    NotFoundError."""
    return require_found(signal_endpoints.lock(conn, id), NOT_FOUND)


def update(conn: Connection, id: int, fields: Endpoint, by: Identity) -> Row:
    """Replaces name, description and the other members that `fields` has. Raises NotFoundError,
    NameExistsError."""
    before = lock(conn, id)
    new: dict[str, Any] = {"name": fields.name, "description": fields.description}
    if fields.enabled is not None:
        new["enabled"] = fields.enabled
    if fields.options is not None:
        new["options"] = _encode(fields.options)
    if fields.template is not UNSET:
        new["template"] = fields.template
    return _change(conn, before, new, by)


def set_enabled(conn: Connection, id: int, enabled: bool, by: Identity) -> Row:
    """Raises NotFoundError."""
    before = lock(conn, id)
    return _change(conn, before, {"enabled": enabled}, by)


def delete(conn: Connection, id: int, by: Identity) -> None:
    """Deletes its tokens and hides its signals; the retention job deletes the signals.

    Raises NotFoundError.
    """
    before = lock(conn, id)
    signal_endpoints.delete(conn, id)
    events.record(conn, "signal-endpoint-deleted", by, pre_data=to_json(before))


def to_json(row: Row) -> dict[str, Any]:
    """The JSON of an endpoint, without tokens and url."""
    return {
        "id": row["id"],
        "name": row["name"],
        "description": row["description"],
        "enabled": row["enabled"],
        "options": parse_options(row["options"]),
        "template": row["template"],
        "createdAt": format_iso(row["created_at"]),
        "createdByUserId": row["created_by_user_id"],
    }


def check_token_name(name: str, problems: Problems, path: str = "name") -> None:
    if not 1 <= len(name.strip()) <= 100:
        problems.add(path, "The token name must have 1 to 100 characters.")


def _encode(options: EndpointOptions) -> str:
    return msgspec.json.encode(options).decode()


def _change(conn: Connection, before: Row, new: dict[str, Any], by: Identity) -> Row:
    """`new` has the columns that may change."""
    names = ("name", "description", "enabled", "options", "template")
    columns = {name: before[name] for name in names} | new
    try:
        row = require_found(signal_endpoints.update(conn, before["id"], **columns), NOT_FOUND)
    except UniqueViolation as error:
        raise build_duplicate_error(columns["name"]) from error
    if to_json(row) != to_json(before):
        signal_endpoints.bump_version(conn, row["id"])
        events.record(
            conn, "signal-endpoint-updated", by, data=to_json(row), pre_data=to_json(before)
        )
    return row

"""Signals: stored for senders and for users, found, deleted."""

import enum
from collections.abc import Sequence
from typing import Any

import msgspec

from sigservice import payload
from sigservice.clock import format_iso
from sigservice.db import Connection, Row
from sigservice.errors import ConflictError, require_found
from sigservice.repository.signals import signals
from sigservice.repository.signals.signals import NewSignal
from sigservice.services.identity import Identity
from sigservice.services.signals import signal_endpoints
from sigservice.services.signals.endpoint_options import Idempotency
from sigservice.services.system import events


class NotStored(enum.Enum):
    ENDPOINT_CHANGED = enum.auto()  # or its tokens changed: authenticate the sender again
    KEY_EXISTS = enum.auto()  # another signal has the key: see `find_first`


def store_all(conn: Connection, group: Sequence[NewSignal]) -> list[Row | NotStored]:
    """Stores the signals of concurrent senders in one statement; returns their rows in the same
    order, or the reasons why they are not stored.

    The payloads are JSON that payload.parse has accepted. On a connection in autocommit the signals
    are committed when this returns.
    """
    rows = signals.insert_all(conn, group)
    return [_describe_stored(row, signal) for row, signal in zip(rows, group, strict=True)]


def _describe_stored(row: Row | None, signal: NewSignal) -> Row | NotStored:
    if row is None:
        return NotStored.ENDPOINT_CHANGED
    if row["created_at"] is None:
        return NotStored.KEY_EXISTS
    return {**row, "payload": signal.payload, "payload_bytes": signal.size}


def find_first(conn: Connection, signal: NewSignal, options: Idempotency) -> Row | None:
    """The stored signal with the key of `signal`, which repeats it. None if the key is free now:
    its window is over, or the signal was deleted. The payload is null if it differs and another
    token sent it.

    Raises ConflictError if the payloads differ and the endpoint rejects that.
    """
    assert signal.key is not None
    row = signals.find_by_key(conn, signal.endpoint_id, signal.key, options.windowHours)
    if row is None:
        return None
    if row["is_expired"]:
        signals.release_key(conn, row["id"])
        return None
    if row["payload"] != signal.payload:
        if options.differentBody == "reject":
            raise ConflictError(
                f"Signal {row['id']} has the same idempotency key and another payload.", path="key"
            )
        if row["token_id"] != signal.token_id:  # a guessed key must not reveal the payload
            row["payload"] = "null"
    return row


def get(conn: Connection, endpoint_id: int, id: int) -> Row:
    """Raises NotFoundError."""
    return require_found(signals.find(conn, endpoint_id, id), "Signal not found.")


def send(conn: Connection, endpoint_id: int, body: bytes, by: Identity, *, limit: int) -> Row:
    """Stores a test signal of a user, which is evaluated like any other, and returns it.

    Raises NotFoundError, ConflictError for a disabled endpoint, BadDataError and
    ContentTooLargeError for the payload.
    """
    if len(body) > limit:
        raise payload.build_too_large_error(limit)
    payload.parse(body)
    return _send(conn, endpoint_id, payload.unescape(body.decode()), len(body), by, None)


def replay(conn: Connection, endpoint_id: int, id: int, by: Identity) -> Row:
    """Stores the payload again as a new signal. Raises NotFoundError, ConflictError."""
    row = get(conn, endpoint_id, id)
    return _send(conn, endpoint_id, row["payload"], row["payload_bytes"], by, id)


def to_json(row: Row) -> dict[str, Any]:
    """The members that all three JSON forms of a signal share."""
    return {
        "id": row["id"],
        "source": "signal-endpoint",
        "sourceId": row["endpoint_id"],
        "createdAt": format_iso(row["created_at"]),
        "payload": msgspec.Raw(row["payload"].encode()),
    }


def to_archive_json(row: Row) -> dict[str, Any]:
    """Everything that the archive keeps of a signal."""
    return to_json(row) | {
        "createdBySourceTokenId": row["token_id"],
        "tokenName": row["token_name"],
        "sourceName": row["endpoint_name"],
        "sentBy": row["sent_by"],
        "replayOf": row["replay_of"],
    }


def _send(
    conn: Connection, endpoint_id: int, text: str, size: int, by: Identity, replay_of: int | None
) -> Row:
    endpoint = signal_endpoints.get(conn, endpoint_id)
    if not endpoint["enabled"]:
        raise ConflictError("The signal endpoint is disabled and accepts no signals.")
    row = signals.insert_by_user(
        conn,
        endpoint_id,
        payload=text,
        payload_bytes=size,
        sent_by=by.username,
        replay_of=replay_of,
    )
    data = {
        "id": row["id"],
        "signalEndpointId": endpoint_id,
        "signalEndpoint": endpoint["name"],
        "replayOf": replay_of,
    }
    events.record(conn, "signal-sent", by, data=data)
    return row

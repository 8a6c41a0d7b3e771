"""Signals: accepted and kept, listed and searched, deleted when they are old."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

from sigservice import payload, secrets
from sigservice.clock import format_iso
from sigservice.db.pool import Connection
from sigservice.db.statements import Row
from sigservice.errors import ConflictError, NotFoundError, UnauthorizedError
from sigservice.repository.signals import signal_endpoint_tokens, signals
from sigservice.services.identity import Identity
from sigservice.services.signals import signal_endpoints
from sigservice.services.system import events


def receive(conn: Connection, endpoint_name: str, secret: str, text: bytes) -> Row:
    """The stored signal: `text` is JSON that payload.parse has accepted.

    On a connection in autocommit the signal is committed when this returns. Raises
    UnauthorizedError, the same for every wrong name and token; NotFoundError when a disabled
    endpoint is called with its own token.
    """
    row = signals.insert(
        conn,
        endpoint_name=endpoint_name,
        secret_hash=secrets.sha256(secret),
        payload=payload.unescaped(text.decode()),
        payload_bytes=len(text),
    )
    if row is None:
        check_sender(conn, endpoint_name, secret)
        raise NotFoundError("The signal endpoint is disabled.")
    return row


def check_sender(conn: Connection, endpoint_name: str, secret: str) -> None:
    """Raises UnauthorizedError unless the secret is one of this endpoint's."""
    sender = signal_endpoint_tokens.find_sender(conn, secrets.sha256(secret))
    if sender is None or sender["endpoint_name"] != endpoint_name:
        raise unauthorized()


def unauthorized() -> UnauthorizedError:
    return UnauthorizedError("The token is missing or is not one of this signal endpoint's.")


@dataclass(frozen=True)
class Page:
    """`next_before` is the `before` of the next older page, None on the last one.

    `searched_to_end` is false when a search stopped before the oldest signal.
    """

    rows: list[Row]
    next_before: int | None
    searched_to_end: bool = True


def list_page(
    conn: Connection,
    endpoint_id: int,
    *,
    limit: int,
    before: int | None = None,
    offset: int = 0,
    token_id: int | None = None,
    text: str = "",
) -> Page:
    """The newest signals of an endpoint; `text` is looked for anywhere in the payload's text.

    A search looks through the newest 20 000 signals or 16 MB of payload below `before`; its
    next page goes on from there. A search has no offset.
    """
    if text:
        until, more = signals.find_search_end(conn, endpoint_id, token_id=token_id, before=before)
        rows = signals.search(
            conn,
            endpoint_id,
            token_id=token_id,
            pattern=f"%{_escape_like(text)}%",
            before=before,
            until=until,
            limit=limit,
        )
        if len(rows) == limit:
            return Page(rows, rows[-1]["id"])
        return Page(rows, until if more else None, searched_to_end=not more)
    if token_id is None:
        rows = signals.list_of_endpoint(
            conn, endpoint_id, before=before, limit=limit + 1, offset=offset
        )
    else:
        rows = signals.list_of_token(
            conn, endpoint_id, token_id, before=before, limit=limit + 1, offset=offset
        )
    page = rows[:limit]
    more = len(rows) > limit or signals.is_cut(rows)
    return Page(page, page[-1]["id"] if more else None)


def get(conn: Connection, endpoint_id: int, id: int) -> Row:
    """Raises NotFoundError."""
    row = signals.find(conn, endpoint_id, id)
    if row is None:
        raise NotFoundError("There is no such signal.")
    return row


def send(conn: Connection, endpoint_id: int, text: bytes, by: Identity, *, limit: int) -> Row:
    """A signal that a person sends to try what happens: judged like any other.

    Raises NotFoundError, ConflictError for a disabled endpoint, BadDataError and
    ContentTooLargeError for the payload.
    """
    if len(text) > limit:
        raise payload.too_large(limit)
    payload.parse(text)
    return _send(conn, endpoint_id, payload.unescaped(text.decode()), len(text), by, None)


def replay(conn: Connection, endpoint_id: int, id: int, by: Identity) -> Row:
    """The same payload as a new signal. Raises NotFoundError, ConflictError."""
    row = get(conn, endpoint_id, id)
    return _send(conn, endpoint_id, row["payload"], row["payload_bytes"], by, id)


def to_json(row: Row) -> dict[str, Any]:
    """What all three wire shapes of a signal share."""
    return {
        "id": row["id"],
        "source": "signal-endpoint",
        "sourceId": row["endpoint_id"],
        "createdAt": format_iso(row["created_at"]),
        "payload": msgspec.Raw(row["payload"].encode()),
    }


def _send(
    conn: Connection, endpoint_id: int, text: str, size: int, by: Identity, replay_of: int | None
) -> Row:
    if not signal_endpoints.get(conn, endpoint_id)["enabled"]:
        raise ConflictError("The signal endpoint is disabled: it takes no signals.")
    row = signals.insert_of_person(
        conn,
        endpoint_id,
        payload=text,
        payload_bytes=size,
        sent_by=by.username,
        replay_of=replay_of,
    )
    sent = {"id": row["id"], "signalEndpointId": endpoint_id, "replayOf": replay_of}
    events.record(conn, "signal-sent", by, data=sent)
    return row


def _escape_like(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")

"""Signals: accepted and kept, listed and searched, deleted when they are old."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

from sigservice import secrets
from sigservice.clock import iso
from sigservice.db.pool import Connection
from sigservice.db.run import Row
from sigservice.errors import NotFoundError, UnauthorizedError
from sigservice.payload import unescaped
from sigservice.repository import signal_endpoint_tokens, signals


def receive(conn: Connection, endpoint_name: str, secret: str, payload: bytes) -> Row:
    """The stored signal: `payload` is JSON that payload.parse has accepted.

    On a connection in autocommit the signal is committed when this returns. Raises
    UnauthorizedError, the same for every wrong name and token; NotFoundError when a disabled
    endpoint is called with its own token.
    """
    row = signals.insert(
        conn,
        endpoint_name=endpoint_name,
        secret_hash=secrets.sha256(secret),
        payload=unescaped(payload.decode()),
        payload_bytes=len(payload),
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


def to_json(row: Row) -> dict[str, Any]:
    """What all three wire shapes of a signal share."""
    return {
        "id": row["id"],
        "source": "signal-endpoint",
        "sourceId": row["endpoint_id"],
        "createdAt": iso(row["created_at"]),
        "payload": msgspec.Raw(row["payload"].encode()),
    }


def _escape_like(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")

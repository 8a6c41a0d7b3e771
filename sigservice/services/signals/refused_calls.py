"""Calls of signal endpoints that stored no signal, so that admins find a wrong token.

They are counted in memory by caller and reason, and written by a job, so that a flood of them
writes a bounded number of rows.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from sigservice.clock import format_iso
from sigservice.concurrency.buffer import Buffer
from sigservice.crypto.hidden_secrets import hide_secrets
from sigservice.db import Connection, Row
from sigservice.repository.signals import refused_calls
from sigservice.services.signals.signal_endpoint_tokens import TOKEN_PREFIX

MAX_BUFFERED = 200  # callers and reasons between two writes
MAX_ROWS, MAX_DAYS = 100, 30  # rows for each endpoint
MAX_ROWS_OF_ADDRESS = 20  # while other addresses need the space
MAX_NAME_LENGTH, MAX_REASON_LENGTH, MAX_USER_AGENT_LENGTH = 100, 300, 200
PREFIX_LENGTH = 4  # characters of a secret that are recorded
MIN_SECRET_LENGTH = 16
OTHER_CALLERS = "Further callers, which are only counted."


class RefusedCall(NamedTuple):
    """`secret_prefix` is the beginning of the token, see `make_prefix`; "" for a signature."""

    endpoint_name: str
    status: int
    reason: str
    secret_prefix: str
    address: str


@dataclass(frozen=True)
class _Count:
    calls: int
    user_agent: str
    first_at: datetime
    last_at: datetime


class RefusedCallBuffer(Buffer[RefusedCall, _Count]):
    """Above MAX_BUFFERED, further callers share one entry for each status."""

    def __init__(self) -> None:
        super().__init__(MAX_BUFFERED)
        self._others: Buffer[RefusedCall, _Count] = Buffer(MAX_BUFFERED)

    def record(self, call: RefusedCall, user_agent: str, now: datetime) -> None:
        name = call.endpoint_name
        if name.startswith(TOKEN_PREFIX):  # a token in place of the name
            name = make_prefix(name)
        name = hide_secrets(name)  # a token beside the name
        call = call._replace(
            endpoint_name=_clean(name, MAX_NAME_LENGTH),
            reason=_clean(call.reason, MAX_REASON_LENGTH),
            secret_prefix=_clean(call.secret_prefix, 20),
        )
        agent = _clean(user_agent, MAX_USER_AGENT_LENGTH)
        if not self.add(call, lambda count: _count(count, agent, now)):
            others = RefusedCall("", call.status, OTHER_CALLERS, "", "")
            self._others.add(others, lambda count: _count(count, "", now))

    def drain(self) -> dict[RefusedCall, _Count]:
        return super().drain() | self._others.drain()


def _count(count: _Count | None, user_agent: str, now: datetime) -> _Count:
    calls, first_at = (count.calls, count.first_at) if count else (0, now)
    return _Count(calls + 1, user_agent, first_at, now)


def write(conn: Connection, counts: dict[RefusedCall, _Count]) -> None:
    """Adds to the stored counts, and deletes the rows beyond the limits."""
    items = [
        {"position": position, **call._asdict(), **vars(count)}
        for position, (call, count) in enumerate(counts.items())
    ]
    refused_calls.lock(conn)
    refused_calls.add(conn, msgspec.json.encode(items).decode())
    refused_calls.delete_surplus(
        conn, keep=MAX_ROWS, keep_of_address=MAX_ROWS_OF_ADDRESS, days=MAX_DAYS
    )


def make_prefix(secret: str) -> str:
    """The beginning of a secret, by which its owner recognises it; "" for a short secret, because
    a few characters would reveal too much of it."""
    if len(secret) < MIN_SECRET_LENGTH:
        return ""
    length = PREFIX_LENGTH + (len(TOKEN_PREFIX) if secret.startswith(TOKEN_PREFIX) else 0)
    return secret[:length]


def to_json(row: Row) -> dict[str, Any]:
    return {
        "endpointName": row["endpoint_name"],
        "status": row["status"],
        "reason": row["reason"],
        "secretPrefix": row["secret_prefix"],
        "address": row["address"],
        "userAgent": row["user_agent"],
        "calls": row["calls"],
        "firstAt": format_iso(row["first_at"]),
        "lastAt": format_iso(row["last_at"]),
    }


def _clean(text: str, max_length: int) -> str:
    """The text without characters that a log or the database can't contain. Header values are
    latin-1."""
    text = text[:max_length]
    return text if text.isprintable() else "".join(c if c.isprintable() else "?" for c in text)

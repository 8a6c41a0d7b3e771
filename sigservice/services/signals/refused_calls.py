"""Calls of signal endpoints that stored no signal, so that admins find a wrong token.

They are counted in memory by caller and reason, and written by a job, so that a flood of them
writes a bounded number of rows. A kill loses the calls of the last seconds.
"""

import threading
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from sigservice.clock import format_iso
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


@dataclass
class _Count:
    calls: int
    user_agent: str
    first_at: datetime
    last_at: datetime


class RefusedCallBuffer:
    """Thread-safe and bounded: above MAX_BUFFERED, further callers share one entry."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: dict[RefusedCall, _Count] = {}

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
        with self._lock:
            count = self._counts.get(call)
            if count is None and len(self._counts) >= MAX_BUFFERED:
                call, user_agent = RefusedCall("", call.status, OTHER_CALLERS, "", ""), ""
                count = self._counts.get(call)
            if count is None:
                count = self._counts[call] = _Count(0, "", now, now)
            count.calls += 1
            count.last_at = now
            count.user_agent = _clean(user_agent, MAX_USER_AGENT_LENGTH)

    def drain(self) -> dict[RefusedCall, _Count]:
        """Returns and removes what was recorded since the last call."""
        with self._lock:
            counts, self._counts = self._counts, {}
        return counts


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

"""Event streams of OFREP: their signed addresses, and the events that make clients fetch again.

A browser can't send a token with a stream, so the address has one of its own. It is signed with the
stored hash of the API token: every process can check it, and it ends with the API token. It gives
no flags, only the times of changes.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING

import msgspec

from sigservice.clock import Clock
from sigservice.crypto import secrets
from sigservice.delivery.event_stream import PING, write_event
from sigservice.delivery.late import api_token_rows
from sigservice.delivery.revision_cache import Access

if TYPE_CHECKING:
    from sigservice.db import Connection

# An address is the same for this time, so that the ETag of an answer that has it is the same too.
ROTATION_SECONDS = 12 * 3600
INACTIVITY_SECONDS = 120  # after which the provider closes the stream of a hidden page
_TOKEN = re.compile(r"([0-9]{1,18})-([0-9]{1,9})-([A-Za-z0-9_-]{43})")


class OfrepSubscription:
    """Tells a client to fetch when the environment has changed since `revision`. `browser` is as in
    streams.Subscription."""

    def __init__(self, clock: Clock, access: Access, revision: int, browser: str) -> None:
        self.access, self.browser = access, browser
        self._clock, self._revision = clock, revision

    def write_change(self, revision: int) -> bytes:
        """See streams.Subscription."""
        if revision == self._revision:
            return b""
        self._revision = revision
        return self._write_refetch()

    def write_start(self, last_event_id: str) -> bytes:
        """Also tells a new client to fetch: the flags may have changed since its last request."""
        if last_event_id == str(self._revision):
            return PING
        return self._write_refetch()

    def _write_refetch(self) -> bytes:
        event = {
            "type": "refetchEvaluation",
            "etag": f'"{self._revision}"',
            "lastModified": int(self._clock.now().timestamp()),
        }
        return write_event(msgspec.json.encode(event), event_id=self._revision)


def make_stream_token(access: Access, secret_hash: bytes, now: datetime) -> str:
    """The token of an address, valid for 12 to 24 hours. `secret_hash` is the hash of the API
    token."""
    return _sign(access, secret_hash, _find_period(now))


def find_stream_access(conn: Connection, token: str, now: datetime) -> Access | None:
    """The access of the token of an address. None if it is invalid or has expired, or if its API
    token has been revoked, has expired or gives access to other projects now."""
    match = _TOKEN.fullmatch(token)
    if match is None:
        return None
    period = int(match[2])
    # The clock of the process that signed the address may be ahead.
    if abs(period - _find_period(now)) > 1:
        return None
    row = api_token_rows.find_by_id(conn, int(match[1]), now)
    if row is None:
        return None
    access = Access.from_row(row)
    return access if secrets.is_equal(token, _sign(access, row["secret_hash"], period)) else None


def _find_period(now: datetime) -> int:
    return int(now.timestamp()) // ROTATION_SECONDS


def _sign(access: Access, secret_hash: bytes, period: int) -> str:
    scope = f"{access.token_id} {access.environment} {' '.join(access.projects)}"
    signature = secrets.derive(secret_hash.hex(), f"OFREP stream {period} {scope}")
    return f"{access.token_id}-{period}-{signature}"

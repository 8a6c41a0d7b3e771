"""The two clocks the service reads; tests hand in their own (see docs/testing.md)."""

from __future__ import annotations

import time
from datetime import UTC, datetime


class Clock:
    """`now()` for what people see and sessions end by, `monotonic()` (seconds) for limits."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()


def parse_iso(text: str) -> datetime | None:
    """A date or date-time in ISO 8601, UTC unless it says otherwise; None for anything else."""
    try:
        moment = datetime.fromisoformat(text.strip())
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):  # the year 9999 west of Greenwich
        return None


def format_iso(moment: datetime) -> str:
    """ISO 8601 in UTC with milliseconds and Z, as on the wire."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")

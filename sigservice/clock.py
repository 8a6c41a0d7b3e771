"""The clocks of the service; tests replace them (see docs/testing.md)."""

import time
from datetime import UTC, datetime


class Clock:
    """`now()` is for stored times and expiry, `monotonic()` (seconds) for limits."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()

    @property
    def fixed_now(self) -> datetime | None:
        """The time that decides in statements what is due; None for that of the database, which all
        processes share."""
        return None

    def choose_now(self, database_now: datetime) -> datetime:
        """The time that all processes on a database share, for decisions that they take in turn."""
        return database_now


def parse_iso(text: str) -> datetime | None:
    """A date or date-time in ISO 8601, UTC by default; None for invalid text."""
    try:
        moment = datetime.fromisoformat(text.strip())
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):  # the year 9999 in a western time zone
        return None


def format_iso(moment: datetime) -> str:
    """ISO 8601 in UTC with milliseconds and Z, as in JSON."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def format_optional(moment: datetime | None) -> str | None:
    """The same, or None."""
    return format_iso(moment) if moment else None

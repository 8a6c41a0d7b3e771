"""The Retry-After header of a response."""

from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime


def parse_retry_after(text: str, now: datetime, limit: timedelta) -> timedelta:
    """The pause that the header (seconds or an HTTP date) requests, at most `limit`; zero for an
    empty or invalid one."""
    try:
        if text.isascii() and text.isdigit():
            pause = timedelta(seconds=int(text[:9]))
        else:
            at = parsedate_to_datetime(text)
            pause = (at if at.tzinfo else at.replace(tzinfo=UTC)) - now
    except (ValueError, OverflowError):
        return timedelta(0)
    return max(timedelta(0), min(pause, limit))

"""Times in payloads, in the formats that senders use."""

import re
from datetime import UTC, datetime
from typing import Any

_EPOCH = re.compile(r"\d{10,19}", re.ASCII)
_ZONE = re.compile(r" (?=[+-]\d\d:?\d\d$)")  # 2026-11-21 12:44:10 +0100
# Since when on numbers are milliseconds, microseconds or nanoseconds.
_UNITS = ((10**17, 10**9), (10**14, 10**6), (10**11, 10**3))


def parse_time(value: Any) -> datetime | None:
    """ISO 8601 (UTC by default, `UTC` may follow), or seconds, milliseconds, microseconds or
    nanoseconds since 1970."""
    try:
        if isinstance(value, str) and not _EPOCH.fullmatch(value):
            text = _ZONE.sub("", value.removesuffix(" UTC"))
            moment = datetime.fromisoformat(text)
            return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            return None
        number = int(value) if isinstance(value, str) else value
        divisor = next((unit for start, unit in _UNITS if abs(number) >= start), 1)
        return datetime.fromtimestamp(number / divisor, UTC)
    except (ValueError, OverflowError, OSError):
        return None

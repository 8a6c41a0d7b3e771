"""Client metrics: how often SDKs evaluated flags, summed by hour."""

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import msgspec

from sigservice.clock import format_iso
from sigservice.db import Connection, Row
from sigservice.repository.usage import client_metrics
from sigservice.services.usage.impact_windows import HOUR, truncate_time

# Larger counts are mistakes; sums of many counts stay within a bigint.
MAX_COUNT = 10**12
MAX_PAIRS = 500
# A time outside of these is replaced by now, because the clock of the client is wrong.
MAX_PAST, MAX_FUTURE = timedelta(hours=48), timedelta(hours=1)
_NUMBER = re.compile(r"\s*\+?([0-9]{1,18})(?:\.[0-9]*)?\s*")
_MAX_MS = datetime(9999, 12, 1, tzinfo=UTC).timestamp() * 1000


class Usage(NamedTuple):
    """The number of times that one application evaluated a flag as enabled (`yes`) and disabled
    (`no`), in one environment and hour. Counts of `variants` are not 0."""

    feature: str
    app_name: str
    environment: str
    hour: datetime
    yes: int
    no: int
    variants: Mapping[str, int]


def parse_count(value: int | float | str) -> int:
    """A count as SDKs write it, rounded down: 3, 3.7, "3". Raises ValueError."""
    if type(value) is int and 0 <= value <= MAX_COUNT:
        return value
    if isinstance(value, str):
        match = _NUMBER.fullmatch(value)
        value = int(match[1]) if match else -1
    if not 0 <= value <= MAX_COUNT:
        raise ValueError(f"A count must be a number from 0 to {MAX_COUNT}.")
    return math.floor(value)


def parse_time(value: int | float | str) -> datetime:
    """ISO 8601 (UTC by default) or milliseconds since 1970. Raises ValueError."""
    if not isinstance(value, str):
        return datetime.fromtimestamp(min(max(value, 0), _MAX_MS) / 1000, UTC)
    try:
        at = datetime.fromisoformat(value)
        return at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        raise ValueError("A time must be ISO 8601 text or milliseconds since 1970.") from None


def find_hour(at: datetime, now: datetime) -> datetime:
    """The start of the hour to which counts up to `at` belong; of the current hour if the clock of
    the client is wrong."""
    return truncate_time(at if now - MAX_PAST <= at <= now + MAX_FUTURE else now, HOUR)


def list_raw(conn: Connection, feature: str, hours: int, now: datetime) -> list[dict[str, Any]]:
    """The JSON of each hour with metrics, by application and environment, at most MAX_PAIRS such
    pairs: frontend tokens are public, so anyone can invent application names."""
    rows = {
        (row["environment"], row["app_name"], row["hour"]): row
        for row in client_metrics.list_for_feature(conn, feature, hours)
    }
    hour_starts = [truncate_time(now, HOUR) - timedelta(hours=ago) for ago in range(hours)]
    pairs = sorted({(environment, app_name) for environment, app_name, _ in rows})[:MAX_PAIRS]
    return [
        _to_json(feature, environment, app_name, hour, rows.get((environment, app_name, hour)))
        for hour in reversed(hour_starts)
        for environment, app_name in pairs
    ]


def _to_json(
    feature: str, environment: str, app_name: str, hour: datetime, row: Row | None
) -> dict[str, Any]:
    metric = {
        "featureName": feature,
        "appName": app_name,
        "environment": environment,
        "timestamp": format_iso(hour),
        "yes": row["yes"] if row else 0,
        "no": row["no"] if row else 0,
    }
    if row and (row["frontend_yes"] or row["frontend_no"]):
        metric["frontend"] = {"yes": row["frontend_yes"], "no": row["frontend_no"]}
    if row and row["variants"]:
        metric["variants"] = msgspec.Raw(row["variants"].encode())
    return metric

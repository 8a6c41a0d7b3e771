"""Client metrics: what SDKs report of flags, summed by hour, and how it is read."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any

import msgspec

from sigservice.clock import format_iso
from sigservice.db.pool import Connection
from sigservice.db.statements import Row
from sigservice.repository.usage import client_metrics, feature_last_seen

# A count beyond this is a mistake; sums of many stay within a bigint.
MOST = 10**12
MOST_PAIRS = 500
# What is reported for a time outside of this counts as now: somebody's clock is wrong.
OLDEST, NEWEST = timedelta(hours=48), timedelta(hours=1)
_NUMBER = re.compile(r"\s*\+?([0-9]{1,18})(?:\.[0-9]*)?\s*")
_LATEST = datetime(9999, 12, 1, tzinfo=UTC).timestamp() * 1000


@dataclass(frozen=True)
class Usage:
    """How often one application saw a flag on and off in one environment, ending at `at`."""

    feature: str
    app_name: str
    environment: str
    at: datetime
    yes: int
    no: int
    variants: Mapping[str, int]


def whole(value: int | float | str) -> int:
    """A count as SDKs write it: 3, 3.7, "3". Raises ValueError."""
    if isinstance(value, str):
        match = _NUMBER.fullmatch(value)
        value = int(match[1]) if match else -1
    if not 0 <= value <= MOST:
        raise ValueError(f"A count is a number from 0 to {MOST}.")
    return math.floor(value)


def moment(value: int | float | str) -> datetime:
    """ISO 8601 (UTC unless it says otherwise) or milliseconds since 1970. Raises ValueError."""
    if not isinstance(value, str):
        return datetime.fromtimestamp(min(max(value, 0), _LATEST) / 1000, UTC)
    try:
        at = datetime.fromisoformat(value)
        return at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        raise ValueError("A time is ISO 8601 text or milliseconds since 1970.") from None


def store(
    conn: Connection, usages: Sequence[Usage], now: datetime, max_variants: int
) -> tuple[set[tuple[str, str]], int]:
    """Adds to the sums of their hours; flags and environments that don't exist are left out.

    Returns the stored pairs of flag and environment, and how many variants were dropped: those
    beyond `max_variants`, and those that their flag doesn't have.
    """
    rows = [
        {
            "feature": usage.feature,
            "app_name": usage.app_name,
            "environment": usage.environment,
            "hour": _hour(_plausible(usage.at, now)),
            "yes": usage.yes,
            "no": usage.no,
            "variants": {name: count for name, count in usage.variants.items() if count},
        }
        for usage in usages
        if usage.yes or usage.no or any(usage.variants.values())
    ]
    if not rows:
        return set(), 0
    stored = client_metrics.add(conn, rows)
    dropped = _cut_variants(rows, max_variants)
    with_variants = [row for row in rows if row["variants"]]
    if with_variants:
        dropped += client_metrics.add_variants(conn, with_variants)
    feature_last_seen.mark(
        conn,
        features=[feature for feature, _ in stored],
        environments=[environment for _, environment in stored],
    )
    return stored, dropped


def _cut_variants(rows: Sequence[dict[str, Any]], room: int) -> int:
    """Leaves each row the variants for which there is room; returns how many are cut off."""
    dropped = 0
    for row in rows:
        variants = dict(islice(row["variants"].items(), room))
        dropped += len(row["variants"]) - len(variants)
        room -= len(variants)
        row["variants"] = variants
    return dropped


def list_hours(conn: Connection, feature: str, hours: int, now: datetime) -> list[Row]:
    """{environment, hour, yes, no}: every hour of each environment that has any, oldest first."""
    rows = {
        (row["environment"], row["hour"]): row
        for row in client_metrics.list_hours(conn, feature, hours)
    }
    names = sorted({environment for environment, _ in rows})
    return [
        rows.get((name, hour)) or {"environment": name, "hour": hour, "yes": 0, "no": 0}
        for hour in _hours(hours, now)
        for name in names
    ]


def list_raw(conn: Connection, feature: str, hours: int, now: datetime) -> list[dict[str, Any]]:
    """On the wire, by application; every hour of each application and environment that has any,
    the first MOST_PAIRS of them: whoever has a page's token can make up application names."""
    rows = {
        (row["environment"], row["app_name"], row["hour"]): row
        for row in client_metrics.list_of_feature(conn, feature, hours)
    }
    pairs = sorted({(environment, app_name) for environment, app_name, _ in rows})[:MOST_PAIRS]
    return [
        _to_json(feature, environment, app_name, hour, rows.get((environment, app_name, hour)))
        for hour in _hours(hours, now)
        for environment, app_name in pairs
    ]


def _to_json(
    feature: str, environment: str, app_name: str, hour: datetime, row: Row | None
) -> dict[str, Any]:
    shown = {
        "featureName": feature,
        "appName": app_name,
        "environment": environment,
        "timestamp": format_iso(hour),
        "yes": row["yes"] if row else 0,
        "no": row["no"] if row else 0,
    }
    if row and row["variants"]:
        shown["variants"] = msgspec.Raw(row["variants"].encode())
    return shown


def _plausible(at: datetime, now: datetime) -> datetime:
    return at if now - OLDEST <= at <= now + NEWEST else now


def _hour(at: datetime) -> datetime:
    return at.astimezone(UTC).replace(minute=0, second=0, microsecond=0)


def _hours(count: int, now: datetime) -> list[datetime]:
    """The starts of the last `count` hours, oldest first, the running one last."""
    return [_hour(now) - timedelta(hours=ago) for ago in reversed(range(count))]

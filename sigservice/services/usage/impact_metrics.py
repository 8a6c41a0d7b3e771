"""Impact metrics of a flag: those that have its name as a label, by variant and time."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from sigservice.clock import format_iso
from sigservice.db import Connection, Row
from sigservice.repository.usage import impact_metrics

# (seconds of a window, number of windows)
RANGES = {"hour": (60, 60), "day": (3600, 24)}
MAX_SERIES = 200  # anyone with a frontend token can invent labels
_KEY = ("environment", "name", "type", "app_name", "sdk_type", "variant")


def summarize(conn: Connection, feature: str, range: str) -> list[dict[str, Any]]:
    """{environment, name, type, app_name, sdk_type, variant, help, value, count, windows} of each
    metric and variant within a key of RANGES. `value` is the total of a counter or histogram, or
    the last value of a gauge; `count` is the number of observations of a histogram, otherwise None.
    `windows` are {starts_at, value, count}, oldest first."""
    seconds, windows = RANGES[range]
    rows = impact_metrics.list_windows(
        conn, feature, seconds=seconds, windows=windows, limit=MAX_SERIES
    )
    groups = groupby(rows, lambda row: tuple(row[column] for column in _KEY))
    return [_summarize_variant(dict(zip(_KEY, key, strict=True)), [*rows]) for key, rows in groups]


def to_json(metric: dict[str, Any]) -> dict[str, Any]:
    return {
        "metricName": metric["name"],
        "type": metric["type"],
        "help": metric["help"],
        "environment": metric["environment"],
        "appName": metric["app_name"],
        "sdkType": metric["sdk_type"],
        "variant": metric["variant"],
        **_amounts_to_json(metric),
        "data": [
            {"timestamp": format_iso(window["starts_at"])} | _amounts_to_json(window)
            for window in metric["windows"]
        ],
    }


def _amounts_to_json(amounts: dict[str, Any]) -> dict[str, float]:
    if amounts["count"] is None:
        return {"value": amounts["value"]}
    return {"count": amounts["count"], "sum": amounts["value"]}


def _summarize_variant(metric: dict[str, Any], rows: Sequence[Row]) -> dict[str, Any]:
    kind = metric["type"]
    value = rows[-1]["value"] if kind == "gauge" else sum(row["value"] for row in rows)
    count = sum(row["count"] for row in rows)
    windows = [
        {"starts_at": row["starts_at"]} | _make_amounts(kind, row["value"], row["count"])
        for row in rows
    ]
    return (
        metric | {"help": rows[-1]["help"], "windows": windows} | _make_amounts(kind, value, count)
    )


def _make_amounts(kind: str, value: float, count: float) -> dict[str, float | None]:
    return {"value": value, "count": count if kind == "histogram" else None}

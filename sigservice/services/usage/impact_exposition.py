"""Impact metrics for Prometheus: totals of all series, with names and labels that it accepts.

Names of metrics and labels are free text, so different ones can become equal. Then labels get a
prefix, metrics of different types get a suffix, and series with equal labels are merged. Frontend
tokens are public, so their series are never merged with others: they alone have the origin
`frontend`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import msgspec

from sigservice.db import Row
from sigservice.late import prometheus_core
from sigservice.telemetry import exposition

ORIGIN, FRONTEND_ORIGIN = "sdk", "frontend"
# Set by the service, or by Prometheus.
RESERVED_LABELS = {"appName", "environment", "metric_type", "le"}
PREFIX = "exported_"  # as Prometheus itself renames labels
_INVALID = re.compile(r"[^a-zA-Z0-9_]")
_SUFFIXES = {"counter": ("",), "gauge": ("",), "histogram": ("", "_bucket", "_count", "_sum")}

Labels = tuple[tuple[str, str], ...]


def write_exposition(rows: Iterable[Row]) -> bytes:
    """The text format 0.0.4. `rows` are the rows of `list_series`: backend series first, which
    frontend tokens must not rename, then the oldest, so that a metric keeps its name when another
    one collides with it."""
    return exposition.write(_list_metrics(rows))


def _list_metrics(rows: Iterable[Row]) -> Iterator[prometheus_core.Metric]:
    families: dict[tuple[str, str], dict[Labels, list[Row]]] = {}
    for row in rows:
        series = families.setdefault((_clean(row["name"]), row["type"]), {})
        series.setdefault(_make_labels(row), []).append(row)
    names: set[str] = set()
    for (name, kind), series in families.items():
        help = next(iter(series.values()))[0]["help"]
        metric = prometheus_core.Metric(_claim(name, kind, names), help, kind)
        for labels, group in series.items():
            _WRITERS[kind](metric, dict(labels), group)
        yield metric


def _clean(text: str) -> str:
    text = _INVALID.sub("_", text)
    return f"_{text}" if text[0].isdigit() else text


def _claim(name: str, kind: str, names: set[str]) -> str:
    """The name, extended until none of its lines has the name of another metric's line."""
    while names & (lines := {name + suffix for suffix in _SUFFIXES[kind]}):
        name = f"{name}_{kind}"
    names |= lines
    return name


def _make_labels(row: Row) -> Labels:
    labels = {
        "appName": row["app_name"],
        "environment": row["environment"],
        "metric_type": row["type"],
        "origin": ORIGIN,
    }
    names = set(RESERVED_LABELS)
    if row["sdk_type"] == "frontend":
        labels["origin"] = FRONTEND_ORIGIN
        names.add("origin")
    for label, value in sorted(msgspec.json.decode(row["labels"]).items()):
        label = _INVALID.sub("_", label)
        while (
            label in names
            or label.startswith("__")
            or label[0].isdigit()
            or (label, value) == ("origin", FRONTEND_ORIGIN)
        ):
            label = PREFIX + label
        names.add(label)
        labels[label] = value
    return tuple(sorted(labels.items()))


def _write_counter(
    metric: prometheus_core.Metric, labels: dict[str, str], rows: Sequence[Row]
) -> None:
    metric.add_sample(metric.name, labels, sum(row["value"] for row in rows))


def _write_gauge(
    metric: prometheus_core.Metric, labels: dict[str, str], rows: Sequence[Row]
) -> None:
    last = max(rows, key=lambda row: row["reported_at"])
    metric.add_sample(metric.name, labels, last["value"])


def _write_histogram(
    metric: prometheus_core.Metric, labels: dict[str, str], rows: Sequence[Row]
) -> None:
    """A series without a bound has the count of its next lower bound there, so counts are
    cumulative and never decrease."""
    steps: dict[float, float] = {}  # observations above the bound before, up to this one
    for row in rows:
        for bound, (below, count) in zip(
            row["bounds"], pairwise([0.0, *row["buckets"]]), strict=True
        ):
            steps[bound] = steps.get(bound, 0.0) + count - below
    total = 0.0
    for bound, count in sorted(steps.items()):
        total += count
        metric.add_sample(f"{metric.name}_bucket", labels | {"le": repr(bound)}, total)
    total = sum(row["count"] for row in rows)
    metric.add_sample(f"{metric.name}_bucket", labels | {"le": "+Inf"}, total)
    metric.add_sample(f"{metric.name}_sum", labels, sum(row["value"] for row in rows))
    metric.add_sample(f"{metric.name}_count", labels, total)


_WRITERS: Mapping[str, Callable[[prometheus_core.Metric, dict[str, str], Any], None]] = {
    "counter": _write_counter,
    "gauge": _write_gauge,
    "histogram": _write_histogram,
}

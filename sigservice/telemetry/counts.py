"""Counts of all resources, read with one statement and cached for a moment. While the database
doesn't respond, these metrics are missing."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from sigservice.concurrency.shared import Shared
from sigservice.late import prometheus_core

CACHE_SECONDS = 5.0

Row = Mapping[str, Any]
Samples = Iterable[tuple[Sequence[str], float]]


def _get(column: str) -> Callable[[Row], Samples]:
    return lambda row: [((), row[column])]


def _get_each(**columns: str) -> Callable[[Row], Samples]:
    """`label value: column`."""
    return lambda row: [((label.lstrip("_"),), row[column]) for label, column in columns.items()]


_GAUGES: tuple[tuple[str, str, tuple[str, ...], Callable[[Row], Samples]], ...] = (
    ("feature_toggles_archived_total", "Archived flags.", (), _get("archived_features")),
    ("unknown_flags", "Flags that SDKs report but that don't exist.", (), _get("unknown_features")),
    ("users_total", "Users.", (), _get("users")),
    ("users_active_7", "Users active within 7 days.", (), _get("active_7")),
    ("users_active_30", "Users active within 30 days.", (), _get("active_30")),
    ("users_active_60", "Users active within 60 days.", (), _get("active_60")),
    ("users_active_90", "Users active within 90 days.", (), _get("active_90")),
    (
        "projects_total",
        "Projects.",
        ("mode",),
        lambda row: [((mode,), count) for mode, count in json.loads(row["projects"]).items()],
    ),
    ("environments_total", "Environments.", (), _get("environments")),
    ("groups_total", "Groups, which don't exist here.", (), lambda row: [((), 0)]),
    ("roles_total", "Roles.", (), _get("roles")),
    ("segments_total", "Segments.", (), _get("segments")),
    ("strategies_total", "Strategy types.", (), _get("strategies")),
    ("context_total", "Context fields.", (), _get("context_fields")),
    (
        "api_tokens_total",
        "API tokens.",
        ("type",),
        _get_each(admin="admin_tokens", client="client_tokens", frontend="frontend_tokens"),
    ),
    (
        "client_apps_total",
        "Applications that reported.",
        ("range",),
        _get_each(_7d="apps_7", _30d="apps_30", allTime="apps"),
    ),
    (
        "postgres_version",
        "Always 1; the label is the version.",
        ("version",),
        lambda row: [((row["postgres_version"],), 1)],
    ),
    ("action_queue_signals", "Signals that wait for evaluation.", (), _get("queue_signals")),
    ("action_queue_age_seconds", "Age of the oldest of them.", (), _get("queue_seconds")),
    (
        "alert_rules",
        "Alert rules by state.",
        ("state",),
        lambda row: [((state,), count) for state, count in json.loads(row["alert_rules"]).items()],
    ),
    (
        "integration_deliveries_waiting",
        "Events that wait to be sent to integrations.",
        (),
        _get("deliveries_waiting"),
    ),
    (
        "integration_deliveries_age_seconds",
        "Age of the oldest of them.",
        (),
        _get("deliveries_seconds"),
    ),
    (
        "audit_log_waiting",
        "Events that wait to be written to the file of the audit log.",
        (),
        _get("audit_log_waiting"),
    ),
)


class Counts:
    """`read` queries the database and may raise any error."""

    def __init__(
        self, read: Callable[[], Row], monotonic: Callable[[], float], version: str
    ) -> None:
        self._read, self._version = read, version
        self._shared = Shared[str, Row | None](keeps=True, seconds=monotonic)

    def environment_types(self) -> Mapping[str, str] | None:
        row = self.read_row()
        return None if row is None else json.loads(row["environment_types"])

    def read_row(self) -> Row | None:
        """The cached row or a new one; None if the database doesn't respond."""
        return self._shared.get("", self._read_safely, max_age=CACHE_SECONDS)

    def collect(self) -> Iterable[prometheus_core.Metric]:
        row = self.read_row()
        features = prometheus_core.GaugeMetricFamily(
            "feature_toggles_total", "Flags.", labels=["version"]
        )
        if row is not None:
            features.add_metric([self._version], row["features"])
        yield features
        for name, text, labels, samples in _GAUGES:
            family = prometheus_core.GaugeMetricFamily(name, text, labels=labels)
            for values, number in samples(row) if row is not None else ():
                family.add_metric(values, float(number))
            yield family

    def _read_safely(self) -> Row | None:
        try:
            return self._read()
        except Exception:  # noqa: BLE001  the metrics are missing; requests log the error
            return None

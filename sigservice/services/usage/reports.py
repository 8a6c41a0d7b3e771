"""Reports of SDKs: applications, their instances and how often flags were evaluated.

What exceeds a limit is dropped and counted rather than rejected, because SDKs would retry forever.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any, NamedTuple

from sigservice.db import Connection, single_transaction
from sigservice.repository.usage import impact_metrics, reports
from sigservice.repository.usage.reports import (
    CountsResult,
    InstanceRow,
    Name,
    UsageRow,
    VariantRow,
)
from sigservice.services.usage.client_applications import DEFAULT_INSTANCE, Instance
from sigservice.services.usage.client_metrics import Usage
from sigservice.services.usage.impact_samples import ImpactSample, ImpactSeries
from sigservice.services.usage.impact_stops import LastReports, MetricsBucket
from sigservice.services.usage.recent_rows import InstanceCounts, RecentRows

BACKEND, FRONTEND = "backend", "frontend"
# Per application.
MAX_STRATEGIES, MAX_STRATEGY_NAME = 100, 100
RECENT_SECONDS = 5
ROW_BYTES = 200  # of an instance, a flag or a variant in the statement
SAMPLE_BYTES, VALUE_BYTES = 500, 8
# An application has at most this part of the series of impact metrics.
SERIES_PART = 10
# Different bounds of a histogram of an application, of frontend SDKs, whose tokens are public: each
# makes rules read more. A new version of a page can have others than the one before.
MAX_FRONTEND_BOUNDS = 3

# (application, instance, environment, SDK version, SDK type, address)
_InstanceKey = tuple[str, str, str, str | None, str | None, str | None]


@dataclass(frozen=True)
class ReportLimits:
    """`applications` (by token type) and `instances` apply per environment, `variants` per
    request, `series` per token type."""

    applications: Mapping[str, int]
    instances: int
    variants: int
    series: int

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> ReportLimits:
        metrics = config["metrics"]
        return cls(
            applications={
                BACKEND: metrics["applicationsLimit"],
                FRONTEND: metrics["frontendApplicationsLimit"],
            },
            instances=metrics["instancesLimit"],
            variants=metrics["variantsLimit"],
            series=metrics["impactSeriesLimit"],
        )


class Report(NamedTuple):
    """The content of one request. `sdk_type` and `projects` (None: all) come from the token, `ip`
    from the sender; `dropped_metrics` are impact metrics that are not valid. `bucket` is of a
    server. `store` applies all limits other than the limits of the request."""

    instances: Sequence[Instance]
    usages: Sequence[Usage]
    sdk_type: str
    ip: str
    is_anonymous: bool
    samples: Sequence[ImpactSample] = ()
    values: int = 0  # of the samples, in all windows
    bucket: MetricsBucket | None = None
    dropped_strategies: int = 0
    dropped_variants: int = 0
    dropped_metrics: int = 0
    projects: tuple[str, ...] | None = None
    dropped_flags: int = 0

    @property
    def size(self) -> int:
        """Estimated bytes in the statement."""
        variants = sum(len(usage.variants) for usage in self.usages)
        rows = len(self.instances) + len(self.usages) + variants
        return ROW_BYTES * rows + SAMPLE_BYTES * len(self.samples) + VALUE_BYTES * self.values

    def limit(self, max_variants: int) -> Report:
        """The report within the limits of a request."""
        instances, strategies = _limit_strategies(self.instances)
        usages, variants = _limit_variants(self.usages, max_variants)
        report = self._replace(instances=instances, usages=usages)
        return report._replace(dropped_strategies=strategies, dropped_variants=variants)


@dataclass(frozen=True)
class StoredReports:
    """The stored counts (flag, application, SDK type, yes, no), the names of unknown flags, and how
    many items were dropped, by kind. Application and SDK type of callers without a token are empty.
    """

    counts: Sequence[tuple[str, str, str, int, int]]
    unknown_flags: Iterable[str]
    dropped: Mapping[str, int]


class ReportWriter:
    """Stores reports. What it has stored in the last seconds is not written again, except counts.
    It is used by one thread at a time."""

    def __init__(self, limits: ReportLimits, monotonic: Callable[[], float]) -> None:
        self._limits = limits
        self._recent = RecentRows(monotonic, RECENT_SECONDS)
        self._instance_counts = InstanceCounts(monotonic)

    def store(self, conn: Connection, group: Sequence[Report]) -> StoredReports:
        """Sums counts, and takes the last report of an instance. Counts are stored last, in one
        transaction: when a statement fails, the caller repeats all statements, and the other ones
        change nothing."""
        rows = _Rows()
        last_reports = LastReports(conn, [report.bucket for report in group if report.bucket])
        group = _drop_foreign_flags(conn, group)
        for report in group:
            samples = last_reports.add(report.bucket, report.samples)
            rows.add(report._replace(samples=samples))
        names = self._store_names(conn, rows.names)
        self._store_applications(conn, rows, names)
        dropped_instances = self._store_instances(conn, rows, names)
        usages = [(key, row) for key, row in rows.usages.items() if key[0] in names]
        variants = [row for key, row in rows.variants.items() if key[0] in names]
        series = rows.series.list_rows(names)
        result, dropped_samples = CountsResult(set(), set()), 0
        if usages:
            self._store_last_seen(conn, [row for _, row in usages])
        stops = last_reports.list_rows()
        with single_transaction(conn) if (usages or stops) and series else nullcontext():
            if series:
                limit = self._limits.series
                dropped_samples = impact_metrics.store_samples(
                    conn,
                    series,
                    limit=limit,
                    app_limit=max(1, limit // SERIES_PART),
                    bounds_limit=MAX_FRONTEND_BOUNDS,
                )
            if usages:  # last, because servers and browsers share these rows
                result = reports.store_counts(conn, [row for _, row in usages], variants)
            if stops:
                impact_metrics.store_stops(conn, stops)
        return StoredReports(
            counts=[
                (
                    row.feature,
                    *(("", "") if is_anonymous else (row.app_name, name[1])),
                    row.yes,
                    row.no,
                )
                for (name, *_, is_anonymous), row in usages
                if row.feature not in result.unknown_flags
            ],
            unknown_flags=result.unknown_flags,
            dropped=_count_dropped(
                group, rows.names - names, dropped_instances, result.dropped_variants
            )
            | {"impact_series": dropped_samples},
        )

    def _store_names(self, conn: Connection, names: set[Name]) -> set[Name]:
        """Returns the accepted names."""
        others = {name for name, _ in self._recent.list_others((name, None) for name in names)}
        if not others:
            return names
        accepted = reports.store_names(
            conn,
            others,
            backend_limit=self._limits.applications[BACKEND],
            frontend_limit=self._limits.applications[FRONTEND],
        )
        self._recent.add((name, None) for name in accepted)
        return names - others | accepted

    def _store_applications(self, conn: Connection, rows: _Rows, names: set[Name]) -> None:
        strategies: dict[str, tuple[str, ...] | None] = {}
        for name, reported in rows.strategies.items():
            if name in names:
                strategies[name[2]] = reported or strategies.get(name[2])
        others = self._recent.list_others(strategies.items())
        if others:
            reports.store_applications(conn, others)
            self._recent.add(others)

    def _store_instances(
        self, conn: Connection, rows: _Rows, names: set[Name]
    ) -> set[tuple[str, str, str]]:
        """Returns the dropped instances: (application, instance, environment)."""
        # The last one, if an instance reports with tokens of both types.
        instances = {row[:3]: row[3:] for key, row in rows.instances.items() if key[0] in names}
        others = self._recent.list_others(instances.items())
        if not others:
            return set()
        limit, counts = self._limits.instances, self._instance_counts
        results = reports.store_instances(
            conn,
            [
                InstanceRow(*key, *value, limit - counts.find(conn, key[2], value[1] == FRONTEND))
                for key, value in others
            ],
        )
        dropped = set()
        for row in results:
            if not row["is_stored"]:
                dropped.add((row["app_name"], row["instance_id"], row["environment"]))
            elif row["is_new"]:
                counts.add(row["environment"], row["is_frontend"])
        self._recent.add(row for row in others if row[0] not in dropped)
        return dropped

    def _store_last_seen(self, conn: Connection, usages: Sequence[UsageRow]) -> None:
        flags = {(usage.feature, usage.environment): None for usage in usages}
        others = self._recent.list_others(flags.items())
        if others:
            reports.store_last_seen(conn, [flag for flag, _ in others])
            self._recent.add(others)


class _Rows:
    """The rows of a group of reports. The first part of each key is the name of the application."""

    def __init__(self) -> None:
        self.names: set[Name] = set()
        self.strategies: dict[Name, tuple[str, ...] | None] = {}
        self.instances: dict[tuple[Name, str], _InstanceKey] = {}
        self.usages: dict[tuple[Name, str, datetime, bool], UsageRow] = {}
        self.variants: dict[tuple[Name, str, datetime, str], VariantRow] = {}
        self.series = ImpactSeries()

    def add(self, report: Report) -> None:
        for instance in report.instances:
            self._add_instance(instance, report)
        for usage in report.usages:
            self._add_usage(usage, report)
        for sample in report.samples:
            name = sample.environment, report.sdk_type, sample.app_name
            self.names.add(name)
            self.strategies.setdefault(name, None)  # series exist as long as their application
            self.series.add(name, sample)

    def _add_instance(self, instance: Instance, report: Report) -> None:
        """The last report of an instance decides, but keeps what it doesn't contain."""
        app_name, instance_id, environment, sdk_version, sdk_type, strategies = instance
        name = environment, report.sdk_type, app_name
        self.names.add(name)
        self.strategies[name] = tuple(strategies) if strategies else self.strategies.get(name)
        key = name, instance_id or DEFAULT_INSTANCE
        last = self.instances.pop(key, None)
        if last is not None:
            sdk_version, sdk_type = sdk_version or last[3], sdk_type or last[4]
        self.instances[key] = (
            app_name,
            key[1],
            environment,
            sdk_version or None,
            sdk_type or None,
            report.ip or None,
        )

    def _add_usage(self, usage: Usage, report: Report) -> None:
        feature, app_name, environment, hour, yes, no, variants = usage
        name = environment, report.sdk_type, app_name
        is_frontend = report.sdk_type == FRONTEND
        self.names.add(name)
        key = name, feature, hour, report.is_anonymous
        row = self.usages.get(key)
        if row is None:
            self.usages[key] = UsageRow(feature, app_name, environment, hour, yes, no, is_frontend)
        else:
            row.yes += yes
            row.no += no
        for variant, count in variants.items():
            place = name, feature, hour, variant
            if place in self.variants:
                self.variants[place].count += count
            else:
                self.variants[place] = VariantRow(
                    feature, app_name, environment, hour, variant, count, is_frontend
                )


def _drop_foreign_flags(conn: Connection, group: Sequence[Report]) -> list[Report]:
    """The reports without usages of flags outside of the projects of their tokens, and without
    labels of impact metrics that name them: frontend tokens are public and must not falsify what
    other projects see. `dropped_flags` counts the flags of each report."""
    scopes: dict[tuple[str, ...], set[str]] = {}
    for report in group:
        if report.projects is not None:
            scopes.setdefault(report.projects, set()).update(_list_flags(report))
    rows = reports.list_foreign_flags(conn, scopes) if any(scopes.values()) else []
    foreign: dict[tuple[str, ...] | None, set[str]] = {}
    for projects, name in rows:
        foreign.setdefault(projects, set()).add(name)
    return [_drop_flags(report, foreign.get(report.projects)) for report in group]


def _drop_flags(report: Report, names: set[str] | None) -> Report:
    dropped = names & _list_flags(report) if names else None
    if not dropped:
        return report
    samples = [
        sample._replace(labels=tuple(pair for pair in sample.labels if pair[0] not in dropped))
        for sample in report.samples
    ]
    usages = [usage for usage in report.usages if usage.feature not in dropped]
    return report._replace(usages=usages, samples=samples, dropped_flags=len(dropped))


def _list_flags(report: Report) -> set[str]:
    names = {usage.feature for usage in report.usages}
    return names | {label for sample in report.samples for label, _ in sample.labels}


def _list_names(report: Report) -> set[Name]:
    names = {(i.environment, report.sdk_type, i.app_name) for i in report.instances}
    names |= {(u.environment, report.sdk_type, u.app_name) for u in report.usages}
    return names | {(s.environment, report.sdk_type, s.app_name) for s in report.samples}


def _count_dropped(
    group: Sequence[Report],
    dropped_names: set[Name],
    dropped_instances: set[tuple[str, str, str]],
    dropped_variants: set[tuple[str, str, str]],
) -> dict[str, int]:
    """The numbers by kind, for each report on its own although reports share dropped rows."""
    dropped = {
        "flags": sum(report.dropped_flags for report in group),
        "strategies": sum(report.dropped_strategies for report in group),
        "variants": sum(report.dropped_variants for report in group),
        "impact_metrics": sum(report.dropped_metrics for report in group),
    }
    if dropped_names:
        dropped["applications"] = sum(len(_list_names(r) & dropped_names) for r in group)
    if dropped_instances:
        dropped["instances"] = sum(
            (i.app_name, i.instance_id or DEFAULT_INSTANCE, i.environment) in dropped_instances
            for report in group
            for i in report.instances
        )
    if dropped_variants:
        dropped["variants"] += sum(
            (usage.feature, usage.environment, variant) in dropped_variants
            for report in group
            for usage in report.usages
            for variant in usage.variants
        )
    return dropped


def _limit_variants(usages: Sequence[Usage], limit: int) -> tuple[Sequence[Usage], int]:
    """The usages with at most `limit` variants together, and how many were dropped."""
    surplus = sum(len(usage.variants) for usage in usages) - limit
    if surplus <= 0:
        return usages, 0
    limited = []
    for usage in usages:
        variants = dict(islice(usage.variants.items(), limit))
        limit -= len(variants)
        limited.append(usage._replace(variants=variants))
    return limited, surplus


def _limit_strategies(instances: Sequence[Instance]) -> tuple[Sequence[Instance], int]:
    """The instances with the strategies within the limits, and how many names were dropped."""
    if not any(instance.strategies for instance in instances):
        return instances, 0
    limited: list[Instance] = []
    dropped = 0
    for instance in instances:
        if instance.strategies:
            names = [name for name in instance.strategies if len(name) <= MAX_STRATEGY_NAME]
            names = list(dict.fromkeys(names))[:MAX_STRATEGIES]
            dropped += len(set(instance.strategies)) - len(names)
            instance = instance._replace(strategies=names)
        limited.append(instance)
    return limited, dropped

"""Reports of SDKs: applications, their instances and how often flags were evaluated.

What exceeds a limit is dropped and counted rather than rejected, because SDKs would retry forever.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

from sigservice.db.pool import Connection
from sigservice.repository.usage import reports as repository
from sigservice.repository.usage.reports import InstanceRow, UsageRow, VariantRow
from sigservice.services.usage.client_applications import DEFAULT_INSTANCE, Instance
from sigservice.services.usage.client_metrics import Usage

BACKEND, FRONTEND = "backend", "frontend"
# Per application.
MAX_STRATEGIES, MAX_STRATEGY_NAME = 100, 100
ROW_BYTES = 200  # of an instance, a flag or a variant in the statement


@dataclass(frozen=True)
class ReportLimits:
    """`applications` (by token type) and `instances` apply per environment, `variants` per
    request."""

    applications: Mapping[str, int]
    instances: int
    variants: int

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
        )


class Report(NamedTuple):
    """What one request reports. `sdk_type` is the token's, `ip` the sender's; the other limits
    than those of the request are applied by `store`."""

    instances: Sequence[Instance]
    usages: Sequence[Usage]
    sdk_type: str
    ip: str
    is_anonymous: bool
    dropped_strategies: int
    dropped_variants: int

    @property
    def size(self) -> int:
        """Estimated bytes in the statement."""
        variants = sum(len(usage.variants) for usage in self.usages)
        return ROW_BYTES * (len(self.instances) + len(self.usages) + variants)


@dataclass(frozen=True)
class StoredReports:
    """The stored counts (flag, application, yes, no), the names of unknown flags, and how many
    items were dropped, by kind. The application of callers without a token is empty."""

    counts: Sequence[tuple[str, str, int, int]]
    unknown_flags: Iterable[str]
    dropped: Mapping[str, int]


def make_report(
    instances: Sequence[Instance],
    usages: Sequence[Usage],
    *,
    sdk_type: str,
    ip: str,
    is_anonymous: bool,
    max_variants: int,
) -> Report:
    """Applies the limits of a request."""
    instances, strategies = _limit_strategies(instances)
    usages, variants = _limit_variants(usages, max_variants)
    return Report(instances, usages, sdk_type, ip, is_anonymous, strategies, variants)


def store(conn: Connection, group: Sequence[Report], limits: ReportLimits) -> StoredReports:
    """Stores the reports of concurrent requests in one statement: counts are summed, and the last
    report of an instance decides."""
    rows = _Rows()
    for report in group:
        for instance in report.instances:
            rows.add_instance(instance, report)
        for usage in report.usages:
            rows.add_usage(usage, report)
    if not rows.names:
        return StoredReports((), (), {})
    for position, row in enumerate(rows.instances.values()):
        row.position = position
    result = repository.store(
        conn,
        names=rows.names,
        instances=rows.instances.values(),
        usages=rows.usages.values(),
        variants=rows.variants.values(),
        backend_limit=limits.applications[BACKEND],
        frontend_limit=limits.applications[FRONTEND],
        instance_limit=limits.instances,
    )
    return StoredReports(
        counts=[
            (row.feature, "" if is_anonymous else row.app_name, row.yes, row.no)
            for (*_, is_anonymous), row in rows.usages.items()
            if row.feature not in result.unknown_flags
            and (row.environment, row.token_type, row.app_name) in result.names
        ],
        unknown_flags=result.unknown_flags,
        dropped=_count_dropped(group, rows.names - result.names, result),
    )


class _Rows:
    """The rows of a group of reports, by what identifies them."""

    def __init__(self) -> None:
        self.names: set[repository.Name] = set()
        self.instances: dict[tuple[str, ...], InstanceRow] = {}
        self.usages: dict[tuple[Any, ...], UsageRow] = {}
        self.variants: dict[tuple[Any, ...], VariantRow] = {}

    def add_instance(self, instance: Instance, report: Report) -> None:
        """The last report of an instance decides, but keeps what it doesn't contain."""
        app_name, environment = instance.app_name, instance.environment
        token_type = report.sdk_type
        instance_id = instance.instance_id or DEFAULT_INSTANCE
        self.names.add((environment, token_type, app_name))
        key = (app_name, instance_id, environment, token_type)
        last = self.instances.pop(key, None)
        self.instances[key] = InstanceRow(
            position=0,
            app_name=app_name,
            instance_id=instance_id,
            environment=environment,
            token_type=token_type,
            sdk_version=instance.sdk_version or (last.sdk_version if last else None),
            sdk_type=instance.sdk_type or (last.sdk_type if last else None),
            client_ip=report.ip or None,
            strategies=instance.strategies or (last.strategies if last else None),
        )

    def add_usage(self, usage: Usage, report: Report) -> None:
        feature, app_name, environment, hour, yes, no, variants = usage
        token_type = report.sdk_type
        self.names.add((environment, token_type, app_name))
        key = (feature, app_name, environment, hour, token_type, report.is_anonymous)
        row = self.usages.get(key)
        if row is None:
            row = UsageRow(feature, app_name, environment, token_type, hour, yes, no)
            self.usages[key] = row
        else:
            row.yes += yes
            row.no += no
        for variant, count in variants.items():
            place = (feature, app_name, environment, hour, token_type, variant)
            if place in self.variants:
                self.variants[place].count += count
            else:
                self.variants[place] = VariantRow(
                    feature, app_name, environment, token_type, hour, variant, count
                )


def _list_names(report: Report) -> set[repository.Name]:
    names = {(i.environment, report.sdk_type, i.app_name) for i in report.instances}
    return names | {(u.environment, report.sdk_type, u.app_name) for u in report.usages}


def _count_dropped(
    group: Sequence[Report], dropped_names: set[repository.Name], result: repository.Result
) -> dict[str, int]:
    """For each report on its own, although rows that they share were dropped together."""
    dropped = {
        "strategies": sum(report.dropped_strategies for report in group),
        "variants": sum(report.dropped_variants for report in group),
    }
    if dropped_names:
        dropped["applications"] = sum(len(_list_names(r) & dropped_names) for r in group)
    if result.dropped_instances:
        dropped["instances"] = sum(
            (i.app_name, i.instance_id or DEFAULT_INSTANCE, i.environment)
            in result.dropped_instances
            for report in group
            for i in report.instances
        )
    if result.dropped_variants:
        dropped["variants"] += sum(
            (usage.feature, usage.environment, variant) in result.dropped_variants
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

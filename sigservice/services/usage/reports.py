"""Reports of SDKs: applications, their instances and how often flags were evaluated.

What exceeds a limit is dropped and counted rather than rejected, because SDKs would retry forever.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sigservice.db.pool import Connection
from sigservice.repository.usage import client_applications as repository
from sigservice.services.usage import client_applications, client_metrics
from sigservice.services.usage.client_applications import Instance
from sigservice.services.usage.client_metrics import Usage

BACKEND, FRONTEND = "backend", "frontend"
# Per application.
MAX_STRATEGIES, MAX_STRATEGY_NAME = 100, 100


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


@dataclass(frozen=True)
class StoredReport:
    """The stored usages, the names of unknown flags, and how many items were dropped, by kind."""

    usages: Sequence[Usage]
    unknown_flags: Sequence[str]
    dropped: Mapping[str, int]


def store(
    conn: Connection,
    instances: Sequence[Instance],
    usages: Sequence[Usage],
    *,
    sdk_type: str,
    ip: str,
    now: datetime,
    limits: ReportLimits,
) -> StoredReport:
    """Stores what the limits allow. `sdk_type` is the token's, `ip` the sender's."""
    names = {(instance.environment, instance.app_name) for instance in instances}
    names |= {(usage.environment, usage.app_name) for usage in usages}
    if not names:
        return StoredReport((), (), {})
    accepted = repository.accept_names(
        conn,
        environments=[environment for environment, _ in names],
        app_names=[app_name for _, app_name in names],
        sdk_type=sdk_type,
        limit=limits.applications[sdk_type],
    )
    instances = [i for i in instances if (i.environment, i.app_name) in accepted]
    usages = [u for u in usages if (u.environment, u.app_name) in accepted]
    instances, dropped_strategies = _limit_strategies(instances)
    dropped = {
        "applications": len(names) - len(accepted),
        "strategies": dropped_strategies,
        "instances": client_applications.record_instances(conn, instances, ip, limits.instances),
    }
    pairs, dropped["variants"] = client_metrics.store(conn, usages, now, limits.variants)
    return StoredReport(
        usages=[u for u in usages if (u.feature, u.environment) in pairs],
        unknown_flags=[
            u.feature for u in usages if u.yes + u.no and (u.feature, u.environment) not in pairs
        ],
        dropped=dropped,
    )


def _limit_strategies(instances: Sequence[Instance]) -> tuple[list[Instance], int]:
    """The instances with the strategies within the limits, and how many names were dropped."""
    limited: list[Instance] = []
    dropped = 0
    for instance in instances:
        if instance.strategies:
            names = [name for name in instance.strategies if len(name) <= MAX_STRATEGY_NAME]
            names = list(dict.fromkeys(names))[:MAX_STRATEGIES]
            dropped += len(set(instance.strategies)) - len(names)
            instance = replace(instance, strategies=names)
        limited.append(instance)
    return limited, dropped

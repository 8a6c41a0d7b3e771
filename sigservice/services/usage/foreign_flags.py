"""Flags outside of the projects of the token that reports them: they are dropped, because frontend
tokens are public and must not falsify what other projects see."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sigservice.db import Connection
from sigservice.repository.usage import reports

if TYPE_CHECKING:
    from sigservice.services.usage.reports import Report


def drop_foreign_flags(conn: Connection, group: Sequence[Report]) -> list[Report]:
    """The reports without usages of such flags, and without labels of impact metrics that name
    them. `dropped_flags` counts the flags of each report."""
    scopes: dict[tuple[str, ...], set[str]] = {}
    for report in group:
        if report.projects is not None:
            scopes.setdefault(report.projects, set()).update(_list_names(report))
    rows = reports.list_foreign_flags(conn, scopes) if any(scopes.values()) else []
    foreign: dict[tuple[str, ...] | None, set[str]] = {}
    for projects, name in rows:
        foreign.setdefault(projects, set()).add(name)
    return [_drop_flags(report, foreign.get(report.projects)) for report in group]


def _drop_flags(report: Report, names: set[str] | None) -> Report:
    dropped = names & _list_names(report) if names else None
    if not dropped:
        return report
    samples = [
        sample._replace(labels=tuple(pair for pair in sample.labels if pair[0] not in dropped))
        for sample in report.samples
    ]
    usages = [usage for usage in report.usages if usage.feature not in dropped]
    return report._replace(usages=usages, samples=samples, dropped_flags=len(dropped))


def _list_names(report: Report) -> set[str]:
    names = {usage.feature for usage in report.usages}
    return names | {label for sample in report.samples for label, _ in sample.labels}

"""The values of the guards of a release over its time, for its chart: those of impact metrics, else
the states that events recorded."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import msgspec

from sigservice.db import Connection, Row
from sigservice.repository.releases import releases as release_rows
from sigservice.services.releases import releases
from sigservice.services.rules.rule_conditions import Condition
from sigservice.services.rules.rule_readings import TOO_SLOW, measure, read_each

SLOTS = 48
_STATES = {
    "release-guard-fired": "firing",
    "release-guard-unknown": "unknown",
    "release-guard-ok": "ok",
}


class GuardPoint(NamedTuple):
    """A guard at a time. `value` is None if there is none."""

    value: float | None
    is_broken: bool


History = Mapping[int, Sequence[GuardPoint]]  # by the ID of the guard, oldest first


def read_history(conn: Connection, row: Row, start: datetime, stop: datetime) -> History:
    """The history of the guards in SLOTS equal parts of the time, read in two statements."""
    guards = releases.list_guards(row)
    times = [start + (stop - start) * number / SLOTS for number in range(1, SLOTS + 1)]
    metrics = {
        guard["id"]: msgspec.convert(guard["definition"]["rule"], Condition)
        for guard in guards
        if guard["kind"] == "rule"
        and guard["rule_reason"] != TOO_SLOW
        and guard["definition"]["rule"]["source"]["kind"] == "impactMetric"
    }
    events = release_rows.list_guard_events(conn, row["id"]) if guards else []
    return {
        guard["id"]: _list_states(guard, events, times)
        for guard in guards
        if guard["id"] not in metrics
    } | _read_values(conn, metrics, times)


def _read_values(
    conn: Connection, metrics: Mapping[int, Condition], times: Sequence[datetime]
) -> dict[int, list[GuardPoint]]:
    if not metrics:
        return {}
    longest = max(condition.windowMinutes for condition in metrics.values())
    start = times[0] - timedelta(minutes=longest)
    slices = read_each(conn, [*metrics.values()], start, times[-1])
    points = {}
    for (id, condition), part in zip(metrics.items(), slices, strict=True):
        values = [measure(condition, part, at).value for at in times]
        points[id] = [
            GuardPoint(value, value is not None and condition.is_beyond(value)) for value in values
        ]
    return points


def _list_states(
    guard: Mapping[str, Any], events: Sequence[Row], times: Sequence[datetime]
) -> list[GuardPoint]:
    changes = [event for event in events if event["guard_id"] == guard["id"]]
    first = "ok" if changes else guard["state"]
    states = [
        next(
            (_STATES[c["type"]] for c in reversed(changes) if c["created_at"] <= at),
            first,
        )
        for at in times
    ]
    return [GuardPoint(None, state == "firing") for state in states]

"""What would have happened: a condition, evaluated over the last 48 hours as they are stored: by
minute for the last two hours, by hour before."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from sigservice.clock import format_iso
from sigservice.db.pool import Connection
from sigservice.services.problems import Problems
from sigservice.services.rules import rule_conditions
from sigservice.services.rules.rule_conditions import Condition
from sigservice.services.rules.rule_readings import measure, read_all
from sigservice.services.rules.rule_states import RuleState, advance
from sigservice.services.usage.impact_windows import HOUR, MINUTE, MINUTES_KEPT, truncate_time

HOURS = 48


def preview(conn: Connection, condition: Condition, now: datetime) -> dict[str, Any]:
    """{state, value, limit, samples, reason, series: [{at, value, samples, firing}]}. Raises
    BadDataError."""
    problems = Problems()
    rule_conditions.check(condition, problems)
    rule_conditions.check_environment(conn, condition, problems)
    problems.raise_if_any()
    start = now - timedelta(hours=HOURS, minutes=condition.windowMinutes)
    (slices,) = read_all(conn, [condition], start, now)
    state, series = RuleState("unknown", now), []
    reading = measure(condition, slices, now)
    for at, seconds in _list_times(now):
        reading = measure(condition, slices, at)
        times = max(1, seconds // condition.everySeconds)
        state = advance(state, condition, reading, at, times).state
        series.append(
            {
                "at": format_iso(at),
                "value": reading.value,
                "samples": reading.samples,
                "firing": state.state == "firing",
            }
        )
    return {
        "state": state.state,
        "value": reading.value,
        "limit": condition.limit,
        "samples": reading.samples,
        "reason": reading.reason,
        "series": series,
    }


def _list_times(now: datetime) -> Iterator[tuple[datetime, int]]:
    """Each time with the seconds since the one before; the last is `now`."""
    at, minutes_from = now - timedelta(hours=HOURS), truncate_time(now - MINUTES_KEPT, HOUR)
    while at < now:
        yield at, HOUR if at < minutes_from else MINUTE
        at += timedelta(seconds=HOUR if at < minutes_from else MINUTE)
    yield now, MINUTE

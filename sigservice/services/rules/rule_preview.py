"""Previews a condition: evaluates it over the stored values of the last 48 hours, by minute for the
last two hours and by hour before."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec

from sigservice.clock import format_iso
from sigservice.db import Connection, Row, limit_time
from sigservice.repository.rules import silent_endpoints
from sigservice.services.problems import Problems
from sigservice.services.rules import rule_conditions
from sigservice.services.rules.prometheus import Answer, PrometheusClient
from sigservice.services.rules.rule_conditions import Condition, PrometheusQuery, Silence
from sigservice.services.rules.rule_readings import (
    READ_SECONDS,
    Reading,
    measure,
    read_answer,
    read_each,
)
from sigservice.services.rules.rule_states import RuleState, advance
from sigservice.services.usage.impact_windows import HOUR, MINUTE, MINUTES_KEPT, truncate_time

HOURS = 48
QUERY_STEP = 600  # seconds
RECENT_HOURS = 2
RECENT_STEP = 300  # seconds
NO_SAMPLE = "The query has no result."
MAX_WAIT = timedelta(days=8)  # of a preview, for a signal before its first hour


def check_condition(conn: Connection, condition: Condition) -> None:
    """Raises BadDataError."""
    problems = Problems()
    rule_conditions.check(condition, problems)
    rule_conditions.check_references(conn, condition, problems)
    problems.raise_if_any()


def preview_stored(conn: Connection, condition: Condition, now: datetime) -> dict[str, Any]:
    """{state, value, limit, samples, reason, series: [{at, value, samples, firing}]} of an impact
    metric or of silence."""
    if isinstance(condition.source, Silence):
        return _preview_silence(conn, condition, condition.source, now)
    # What is stored by hour says nothing about a part of the hour.
    hour = msgspec.structs.replace(condition, windowMinutes=max(60, condition.windowMinutes))
    start = now - timedelta(hours=HOURS, minutes=hour.windowMinutes)
    (slices,) = read_each(conn, [condition], start, now)
    readings = [
        (measure(hour, slices, at, timedelta(hours=1)), seconds)
        if seconds == HOUR
        else (measure(condition, slices, at), seconds)
        for at, seconds in _list_times(now)
    ]
    return _simulate(condition, readings)


def preview_query(
    client: PrometheusClient, source: Row, condition: Condition, now: datetime
) -> dict[str, Any]:
    """Like `preview_stored`, for a query of a metric source."""
    assert isinstance(condition.source, PrometheusQuery)
    text, start = condition.source.query, now - timedelta(hours=HOURS)
    values, answer = client.query_range(source, text, start, now, QUERY_STEP)
    # Sources round timestamps, and some align them.
    by_number = {round((at - start.timestamp()) / QUERY_STEP): v for at, v in values.items()}
    readings = []
    for number in range(HOURS * HOUR // QUERY_STEP + 1):
        value = by_number.get(number)
        at = start + timedelta(seconds=number * QUERY_STEP)
        point = Answer(value, None if value is not None else answer.reason or NO_SAMPLE)
        readings.append((read_answer(condition, point, at), QUERY_STEP))
    return _simulate(condition, readings)


def _preview_silence(
    conn: Connection, condition: Condition, source: Silence, now: datetime
) -> dict[str, Any]:
    start = now - timedelta(hours=HOURS)
    with limit_time(conn, READ_SECONDS):
        times = silent_endpoints.list_times(conn, source.endpointId, start - MAX_WAIT)
    readings = []
    for number in range(HOURS * HOUR // QUERY_STEP + 1):
        at = start + timedelta(seconds=number * QUERY_STEP)
        last = max((time for time in times if time <= at), default=None)
        reading = Reading(None, 0, at, at, "No signal had come.")
        if last is not None:
            overdue = (at - source.find_deadline(last)).total_seconds()
            reading = Reading(overdue, 1, last, at, f"The last signal came at {format_iso(last)}.")
        readings.append((reading, QUERY_STEP))
    return _simulate(condition, readings)


def list_recent_values(
    conn: Connection, conditions: Sequence[Condition], now: datetime
) -> list[list[float | None]]:
    """The values of each condition on an impact metric in the last two hours, one for each five
    minutes, oldest first."""
    if not conditions:
        return []
    count = RECENT_HOURS * HOUR // RECENT_STEP
    times = [now - timedelta(seconds=RECENT_STEP * ago) for ago in range(count, -1, -1)]
    longest = timedelta(minutes=max(condition.windowMinutes for condition in conditions))
    all_slices = read_each(conn, conditions, times[0] - longest, now)
    return [
        [measure(condition, slices, at).value for at in times]
        for condition, slices in zip(conditions, all_slices, strict=True)
    ]


def _simulate(condition: Condition, readings: Sequence[tuple[Reading, int]]) -> dict[str, Any]:
    """`readings` have the seconds since the one before."""
    state, series = RuleState("unknown", readings[0][0].stop), []
    for reading, seconds in readings:
        if reading.value is None and state.unknown_since is None:  # since the reading before
            since = reading.stop - timedelta(seconds=seconds)
            state = msgspec.structs.replace(state, unknown_since=since)
        times = max(1, seconds // condition.everySeconds)
        state = advance(state, condition, reading, reading.stop, times).state
        series.append(
            {
                "at": format_iso(reading.stop),
                "value": reading.value,
                "samples": reading.samples,
                "firing": state.state == "firing",
            }
        )
    last, _ = readings[-1]
    return {
        "state": state.state,
        "value": last.value,
        "limit": None if isinstance(condition.source, Silence) else condition.limit,
        "samples": last.samples,
        "reason": last.reason,
        "series": series,
    }


def _list_times(now: datetime) -> Iterator[tuple[datetime, int]]:
    """Each time with the seconds since the one before; the last is `now`. Hours and minutes are
    whole, as they are stored."""
    minutes_from = truncate_time(now - MINUTES_KEPT, HOUR)
    at = truncate_time(now - timedelta(hours=HOURS), HOUR) + timedelta(hours=1)
    while at < now:
        yield at, HOUR if at <= minutes_from else MINUTE
        at += timedelta(seconds=HOUR if at < minutes_from else MINUTE)
    yield now, MINUTE

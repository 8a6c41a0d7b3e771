"""The readings of the sources of alert rules: a value, or why there is none."""

import time
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from math import isfinite
from typing import NamedTuple

from sigservice.clock import format_iso
from sigservice.db import Connection, limit_time
from sigservice.db.errors import DatabaseUnavailable
from sigservice.services.rules.prometheus import Answer
from sigservice.services.rules.rule_conditions import PERCENTILES, Condition, ImpactMetric
from sigservice.services.usage.impact_windows import Query, Slice, Sums, read_slices, sum_slices
from sigservice.wording import format_number, plural

MAX_AGE = timedelta(minutes=5)  # of the newest report
READ_SECONDS = 1.0  # of a statement that reads rules
READ_ALL_SECONDS = 2.0  # of the rules of a page
TOO_SLOW = "Reading the metric took too long: it has too many series, or the database is busy."
_TYPES = {"rate": ("counter",), "ratio": ("counter",), "average": ("gauge", "histogram")}


class Reading(NamedTuple):
    """`value` is None if it is unknown; `reason` says why, or compares the value with the limit."""

    value: float | None
    samples: int
    start: datetime
    stop: datetime
    reason: str
    error: str | None = None  # of a metric source, or its warnings
    last_signal_id: int | None = None  # of rules on silence
    last_signal_at: datetime | None = None


class Slices(NamedTuple):
    """The slices of a rule's metric, and of the counter that it is divided by."""

    metric: list[Slice]
    per: list[Slice]


def read_each(
    conn: Connection, conditions: Sequence[Condition], start: datetime | None, now: datetime
) -> list[Slices | None]:
    """The slices of all rules, None for those whose series are too many to read in time. Takes
    little more than READ_ALL_SECONDS; what is not read until then is None too."""
    started_at = time.monotonic()
    try:
        return [*read_all(conn, conditions, start, now)]
    except DatabaseUnavailable as error:
        if not error.is_timeout:
            raise
    if len(conditions) == 1:
        return [None]
    return [
        slices
        for condition in conditions
        for slices in (
            read_each(conn, [condition], start, now)
            if time.monotonic() - started_at < READ_ALL_SECONDS
            else [None]
        )
    ]


def read_all(
    conn: Connection, conditions: Sequence[Condition], start: datetime | None, now: datetime
) -> list[Slices]:
    """The slices of all rules in one statement (two with percentiles), from `start` on, or of the
    window of each rule. Raises DatabaseUnavailable, whose `is_timeout` is true if that takes too
    long; the transaction continues."""
    queries: list[Query] = []
    for condition in conditions:
        source = _get_metric(condition)
        since = start or now - timedelta(minutes=condition.windowMinutes)
        queries.append(_make_query(source, source.metric, since, now))
        if source.per is not None:
            queries.append(_make_query(source, source.per, since, now))
    with limit_time(conn, READ_SECONDS):
        results = iter(read_slices(conn, queries, now))
    return [
        Slices(next(results), [] if _get_metric(condition).per is None else next(results))
        for condition in conditions
    ]


def read_answer(condition: Condition, answer: Answer, now: datetime) -> Reading:
    """The reading of a metric source, whose query has its own window."""
    start = now - condition.covered_time
    if answer.value is None:
        reason = answer.reason or "The query has no result."
        return Reading(None, 0, start, now, reason, reason)
    reason = (
        f"The query was {format_number(answer.value)} (limit {format_number(condition.limit)})."
    )
    return Reading(answer.value, 1, start, now, reason, " ".join(answer.warnings) or None)


def measure(
    condition: Condition, slices: Slices | None, now: datetime, max_age: timedelta = MAX_AGE
) -> Reading:
    """The value in the window that ends `now`."""
    start = now - timedelta(minutes=condition.windowMinutes)
    if slices is None:
        return Reading(None, 0, start, now, TOO_SLOW, TOO_SLOW)
    metric = sum_slices(slices.metric, start, now)
    per = sum_slices(slices.per, start, now)
    source = _get_metric(condition)
    base = metric if source.per is None else per
    is_counter = source.measure in ("rate", "ratio")
    count = round(base.total if is_counter else base.samples, 6)
    samples = round(count) if count >= condition.minSamples else int(count)
    value, reason = _find_value(condition, metric, per)
    if base.newest is None:
        value, reason = None, _explain_silence(condition)
    elif now - base.newest > max_age:
        value, reason = None, f"The newest report is of {format_iso(base.newest)}, too old."
    elif count < condition.minSamples:
        value, reason = None, f"{plural(samples, 'sample')}, fewer than {condition.minSamples:,}."
    elif value is not None and not isfinite(value):
        value, reason = None, "The value isn't a finite number."
    elif value is not None:
        value = round(value, 9)
        reason = _explain_value(condition, value, samples)
    return Reading(value, samples, start, now, reason)


def _get_metric(condition: Condition) -> ImpactMetric:
    assert isinstance(condition.source, ImpactMetric)
    return condition.source


def _make_query(source: ImpactMetric, metric: str, start: datetime, stop: datetime) -> Query:
    has_buckets = source.measure in PERCENTILES
    types = _TYPES.get(source.measure, ("histogram",))
    return Query(
        metric, source.environment, types, source.appName, source.labels, start, stop, has_buckets
    )


def _find_value(condition: Condition, metric: Sums, per: Sums) -> tuple[float | None, str]:
    """The value, or why there is none."""
    source = _get_metric(condition)
    measure = source.measure
    if measure == "rate":
        value = metric.total / metric.seconds * 60 if metric.seconds else None
    elif measure == "ratio":
        if metric.newest and per.newest and metric.is_frontend != per.is_frontend:
            # Frontend tokens are public: anyone could report what no server has reported yet.
            return (
                None,
                f"Of {describe_source(source)}, frontend SDKs report one, servers the other.",
            )
        value = metric.total / per.total if per.total else None
    elif measure == "average":
        value = metric.total / metric.samples if metric.samples else None
    else:
        part = PERCENTILES[measure]
        return _find_percentile(metric.buckets, metric.samples, part, condition.limit)
    return value, f"{describe_source(source)} can't be divided by 0."


def _find_percentile(
    buckets: Mapping[float, float], count: float, part: float, limit: float
) -> tuple[float | None, str]:
    """The percentile, interpolated in its bucket as Prometheus does. Above the highest bound, the
    bound counts if it exceeds the limit; otherwise the value can be on either side of the limit."""
    if not buckets:
        return None, "The histogram has no buckets."
    rank, below, lower = part * count, 0.0, None
    for bound in sorted(buckets):
        inside = buckets[bound]
        if inside and below + inside >= rank:
            if lower is None:
                lower = min(0.0, bound)
            return lower + (bound - lower) * (rank - below) / inside, ""
        below, lower = below + inside, bound
    highest = max(buckets)
    if highest > limit:
        return highest, ""
    return (
        None,
        f"The value is above the highest bucket ({format_number(highest)}): the limit needs "
        "higher ones.",
    )


def _explain_silence(condition: Condition) -> str:
    source = _get_metric(condition)
    name = source.per or source.metric
    minutes = plural(condition.windowMinutes, "minute")
    return f"No reports of {name} in {source.environment} in the last {minutes}."


def _explain_value(condition: Condition, value: float, samples: int) -> str:
    name = describe_source(_get_metric(condition))
    return (
        f"{name} was {format_number(value)} (limit {format_number(condition.limit)}) over "
        f"{plural(condition.windowMinutes, 'minute')}, {plural(samples, 'sample')}."
    )


def describe_source(source: ImpactMetric) -> str:
    """For example "errors per requests"."""
    if source.measure == "ratio":
        return f"{source.metric} per {source.per}"
    return f"{source.metric} ({source.measure})"

"""The windows of impact metrics: how a report is spread over minutes and hours, and what was
reported between two times. Pages of flags, alert rules and their preview read the same windows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import groupby, pairwise
from typing import NamedTuple

from sigservice.db import Connection
from sigservice.repository.usage import impact_metrics
from sigservice.repository.usage.impact_metrics import SliceItem

MINUTE, HOUR = 60, 3600
SLOT = 10  # windows of a minute begin at multiples of it
MAX_MINUTE = timedelta(seconds=90)  # the longest part of a report in one of them
MINUTES_KEPT = timedelta(hours=2)  # that are surely stored by minute; before that, hours are read
MAX_REPORT = timedelta(hours=1)  # a longer report counts as one of its last hour
SHORT_REPORT = timedelta(minutes=10)  # the same, where the start of a report can't be trusted
MAX_AGE = timedelta(days=2)  # of a report that counts for its own time
MAX_AHEAD = timedelta(minutes=1)  # of the clock of a program
USUAL_REPORT = timedelta(seconds=60)


class Period(NamedTuple):
    """The time of a report, never empty."""

    start: datetime
    stop: datetime


class Part(NamedTuple):
    """The part of a report in the window of `seconds` from `starts_at` on; the shares sum up to
    1."""

    seconds: int
    starts_at: datetime
    start: datetime
    stop: datetime
    share: float


def find_period(
    start: datetime | None,
    stop: datetime | None,
    now: datetime,
    longest: timedelta = MAX_REPORT,
) -> Period:
    """The time that a bucket counts for, at most the `longest` before its end. If it is missing or
    from a wrong clock, it is the minute before `now`."""
    if start is None or stop is None or not now - MAX_AGE <= stop <= now + MAX_AHEAD:
        return Period(now - USUAL_REPORT, now)
    stop = min(stop, now)
    if start >= stop:
        start = stop - USUAL_REPORT
    return Period(max(start, stop - longest), stop)


def split(period: Period) -> Iterator[Part]:
    """The parts by minute, then by hour. Minutes begin when the report begins, so that the minutes
    of an instance are not mixed: what ended before a time doesn't count after it."""
    length = period.stop - period.start
    count = max(1, round(length.total_seconds() / MINUTE))
    times = [period.start + length * number / count for number in range(count + 1)]
    for start, stop in pairwise(times):
        yield Part(MINUTE, truncate_time(start, SLOT), start, stop, 1 / count)
    starts_at = truncate_time(period.start, HOUR)
    while starts_at < period.stop:
        ends_at = starts_at + timedelta(seconds=HOUR)
        start, stop = max(period.start, starts_at), min(period.stop, ends_at)
        yield Part(HOUR, starts_at, start, stop, (stop - start) / length)
        starts_at = ends_at


def truncate_time(moment: datetime, seconds: int) -> datetime:
    """The start of the window of this length."""
    timestamp = int(moment.timestamp())
    return datetime.fromtimestamp(timestamp - timestamp % seconds, UTC)


@dataclass(frozen=True)
class Slice:
    """The reports for the time from `start` to `stop`. `buckets` are the observations of histograms
    up to each bound, not cumulative."""

    start: datetime
    stop: datetime
    total: float
    samples: float
    buckets: Mapping[float, float]
    is_frontend: bool = False

    def from_time(self, start: datetime) -> Slice:
        """The share of the slice from `start` on, which is before its end."""
        if start <= self.start:
            return self
        share = (self.stop - start) / (self.stop - self.start)
        buckets = {bound: count * share for bound, count in self.buckets.items()}
        return replace(
            self,
            start=start,
            total=self.total * share,
            samples=self.samples * share,
            buckets=buckets,
        )


@dataclass(frozen=True)
class Sums:
    """`seconds` is the time that the reports cover together, `newest` its end, None without
    reports. `is_frontend` if frontend SDKs sent them."""

    total: float
    samples: float
    seconds: float
    newest: datetime | None
    buckets: Mapping[float, float]
    is_frontend: bool = False


class Query(NamedTuple):
    """A metric of a rule, and the time to read."""

    metric: str
    environment: str
    types: Sequence[str]
    app_name: str | None
    labels: dict[str, str]
    start: datetime
    stop: datetime
    has_buckets: bool


def read_slices(conn: Connection, queries: Sequence[Query], now: datetime) -> list[list[Slice]]:
    """The slices of each query, in the order of their starts: by minute for the last two hours or
    three, by hour before."""
    items = [
        SliceItem(id, q.metric, q.environment, q.types, q.app_name, q.labels, *window)
        for id, q in enumerate(queries)
        for window in _list_windows(q, now)
    ]
    if not items:
        return []
    rows = impact_metrics.list_slices(conn, items)
    counts: dict[tuple[int, int, datetime], dict[float, float]] = {}
    if histograms := [item for item in items if queries[item.id].has_buckets]:
        for row in impact_metrics.list_bucket_counts(conn, histograms):
            place = row["id"], row["seconds"], row["starts_at"]
            counts.setdefault(place, {})[row["bound"]] = row["count"]
    minutes_from = truncate_time(now - MINUTES_KEPT, HOUR)
    slices: list[list[Slice]] = [[] for _ in queries]
    for id, group in groupby(rows, lambda row: int(row["id"])):
        parts = [
            Slice(
                row["covers_from"],
                row["covers_to"],
                row["total"],
                row["samples"],
                counts.get((id, row["seconds"], row["starts_at"]), {}),
                row["is_frontend"],
            ).from_time(minutes_from if row["seconds"] == MINUTE else row["covers_from"])
            for row in group
            if row["covers_to"] > minutes_from or row["seconds"] == HOUR
        ]
        slices[id] = sorted(parts, key=lambda part: part.start)
    return slices


def sum_slices(slices: Iterable[Slice], start: datetime, stop: datetime) -> Sums:
    """The sums of the reports from `start` to `stop`; a slice that exceeds them counts by its
    share. `slices` are in the order of their starts."""
    total = samples = seconds = 0.0
    newest: datetime | None = None
    buckets: dict[float, float] = {}
    is_frontend = False
    for item in slices:
        if item.start >= stop:
            break
        first, last = max(item.start, start), min(item.stop, stop)
        if first >= last:
            continue
        share = (last - first) / (item.stop - item.start)
        total += item.total * share
        samples += item.samples * share
        uncovered = first if newest is None else max(first, newest)  # instances overlap
        seconds += max(0.0, (last - uncovered).total_seconds())
        newest = last if newest is None else max(newest, last)
        is_frontend = item.is_frontend
        for bound, count in item.buckets.items():
            buckets[bound] = buckets.get(bound, 0.0) + count * share
    return Sums(total, samples, seconds, newest, buckets, is_frontend)


def _list_windows(query: Query, now: datetime) -> Iterator[tuple[int, datetime, datetime]]:
    """(seconds, since, until) of the windows to read."""
    minutes_from = truncate_time(now - MINUTES_KEPT, HOUR)
    if query.start < minutes_from:
        yield HOUR, truncate_time(query.start, HOUR), min(minutes_from, query.stop)
    if query.stop > minutes_from:
        since = max(minutes_from, query.start) - MAX_MINUTE
        yield MINUTE, truncate_time(since, SLOT), query.stop

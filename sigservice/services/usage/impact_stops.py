"""The time that the samples of a server are of. Some SDKs never reset the start of their reports:
what they send was added since their last report of the metric, whose end is stored with the
instance."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

import msgspec

from sigservice.db import Connection
from sigservice.repository.usage import impact_metrics
from sigservice.repository.usage.impact_metrics import StopsRow
from sigservice.services.usage.impact_samples import ImpactSample
from sigservice.services.usage.impact_windows import MAX_REPORT, SHORT_REPORT, Period

_Key = tuple[str, str, str]


class MetricsBucket(NamedTuple):
    """The time of a report of an instance, and the names of its metrics."""

    app_name: str
    instance_id: str
    environment: str
    metrics: Sequence[str]
    period: Period


class LastReports:
    """The ends of the last reports of instances, by metric."""

    def __init__(self, conn: Connection, buckets: Iterable[MetricsBucket]) -> None:
        self._stops: dict[_Key, dict[str, datetime]] = {bucket[:3]: {} for bucket in buckets}
        if self._stops:
            for row in impact_metrics.list_stops(conn, self._stops):
                stops = msgspec.json.decode(row["impact_stops"], type=dict[str, datetime])
                self._stops[row["app_name"], row["instance_id"], row["environment"]] = stops

    def add(
        self, bucket: MetricsBucket | None, samples: Sequence[ImpactSample]
    ) -> Sequence[ImpactSample]:
        """The samples of a report, each with the time that it is of."""
        if bucket is None:
            return samples
        stops, stop = self._stops[bucket[:3]], bucket.period.stop
        samples = [
            sample._replace(period=shorten(sample.period, stops.get(sample.name)))
            for sample in samples
        ]
        stops |= {name: max(stop, stops.get(name, stop)) for name in bucket.metrics}
        return samples

    def list_rows(self) -> list[StopsRow]:
        """What is to be stored with the samples, without what is too old to matter."""
        rows = []
        for key, stops in self._stops.items():
            if stops:
                since = max(stops.values()) - MAX_REPORT
                recent = {name: stop for name, stop in stops.items() if stop > since}
                rows.append(StopsRow(*key, recent))
        return rows


def shorten(period: Period, last: datetime | None) -> Period:
    """The part of the period after the `last` report, if that ended within it; of a first report
    the last minutes."""
    start, stop = period
    if last is None:
        return Period(max(start, stop - SHORT_REPORT), stop)
    return Period(last, stop) if start < last < stop else period

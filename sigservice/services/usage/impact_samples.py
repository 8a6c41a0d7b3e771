"""Impact metrics as SDKs and relays send them.

A metric that is not valid is dropped and counted without the others, because SDKs would send all of
them again after an error.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from math import inf
from typing import Annotated, Any, Literal, NamedTuple
from uuid import UUID

import msgspec

from sigservice.repository.usage.impact_metrics import SeriesRow, WindowRow
from sigservice.repository.usage.reports import Name
from sigservice.services.usage.impact_windows import MAX_REPORT, SHORT_REPORT, Period, split

MAX_LENGTH = 255  # of names, and of names and values of labels
MAX_HELP = 1000  # longer ones are truncated
MAX_LABELS, MAX_BUCKETS = 20, 50
# Larger amounts are mistakes; sums of many amounts remain exact, or at least finite.
MAX_AMOUNT, MAX_GAUGE = 1e12, 1e300

_ShortText = Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_LENGTH)]
_Amount = Annotated[float, msgspec.Meta(ge=0, le=MAX_AMOUNT)]
_Sum = Annotated[float, msgspec.Meta(ge=-MAX_AMOUNT, le=MAX_AMOUNT)]
_Gauge = Annotated[float, msgspec.Meta(ge=-MAX_GAUGE, le=MAX_GAUGE)]


@dataclass(frozen=True)
class Values:
    """The values of a series, as in SeriesRow."""

    value: float
    count: float = 0.0
    bounds: tuple[float, ...] = ()
    buckets: tuple[float, ...] = ()


class ImpactSample(NamedTuple):
    """The values that a report adds to one series. `labels` are sorted, without the labels of the
    application and environment, and without empty ones, which Prometheus doesn't distinguish from
    absent ones."""

    app_name: str
    environment: str
    name: str
    type: str
    help: str
    labels: tuple[tuple[str, str], ...]
    values: Values
    period: Period


class ParsedMetrics(NamedTuple):
    """`values` is how many numbers are stored: of each sample one and one for each bound, in each
    window of the report. `dropped` is the number of metrics that are not valid, `names` has the
    valid ones, also those without a sample."""

    samples: Sequence[ImpactSample]
    values: int
    dropped: int
    names: Sequence[str] = ()


NO_METRICS = ParsedMetrics((), 0, 0)


class MetricLimits(NamedTuple):
    """The samples and values of a report, and the longest time that it can be of."""

    samples: int
    values: int
    longest: timedelta


# To store 100 000 values takes a second, and anyone who opens a page has its frontend token.
BACKEND_LIMITS = MetricLimits(5000, 300_000, MAX_REPORT)
FRONTEND_LIMITS = MetricLimits(200, 5000, SHORT_REPORT)


class _Sample(msgspec.Struct, kw_only=True):
    labels: dict[_ShortText, str | int | float] = {}


class _CounterSample(_Sample, kw_only=True):
    value: _Amount

    def to_values(self) -> Values:
        return Values(self.value)


class _GaugeSample(_Sample, kw_only=True):
    value: _Gauge

    def to_values(self) -> Values:
        return Values(self.value)


class _Bucket(msgspec.Struct):
    le: float | Literal["+Inf"]
    count: _Amount


class _HistogramSample(_Sample, kw_only=True):
    """The counts of buckets are cumulative."""

    count: _Amount
    sum: _Sum
    buckets: Annotated[list[_Bucket], msgspec.Meta(max_length=MAX_BUCKETS)] = []

    def to_values(self) -> Values:
        """Raises ValueError."""
        pairs = sorted((inf if b.le == "+Inf" else b.le, b.count) for b in self.buckets)
        if pairs and pairs[-1][0] == inf and pairs.pop()[1] != self.count:
            raise ValueError("The bucket +Inf must have the count.")
        bounds, counts = tuple(bound for bound, _ in pairs), tuple(count for _, count in pairs)
        if len(set(bounds)) < len(bounds):
            raise ValueError("Bounds must be distinct.")
        if [*counts, self.count] != sorted([*counts, self.count]):
            raise ValueError("Counts of buckets must be cumulative.")
        return Values(self.sum, self.count, bounds, counts)


class _Named(msgspec.Struct, tag_field="type", kw_only=True):
    name: _ShortText
    help: str = ""


class _Counter(_Named, tag="counter", kw_only=True):
    samples: list[_CounterSample]


class _GaugeMetric(_Named, tag="gauge", kw_only=True):
    samples: list[_GaugeSample]


class _Histogram(_Named, tag="histogram", kw_only=True):
    samples: list[_HistogramSample]


_Metric = _Counter | _GaugeMetric | _Histogram


def parse_metrics(
    items: Iterable[Any],
    app_name: str,
    find_environment: Callable[[str], str],
    period: Period,
    limits: MetricLimits = BACKEND_LIMITS,
) -> ParsedMetrics:
    """Parses each metric on its own, but none that would exceed the limits. `period` is the time of
    the report.

    Samples without the label `appName` get `app_name`. `find_environment` gets the label
    `environment`, or an empty text, and returns the environment, or an empty text for samples that
    are ignored.
    """
    samples: list[ImpactSample] = []
    names: list[str] = []
    values = dropped = 0
    windows = sum(1 for _ in split(period))
    for item in items:
        try:
            metric = msgspec.convert(item, _Metric)
            more = _list_samples(metric, app_name, find_environment, period)
            size = values + windows * sum(1 + len(sample.values.bounds) for sample in more)
            if len(samples) + len(more) > limits.samples or size > limits.values:
                raise ValueError("The report has too many samples.")
            samples += more
            values = size
            names.append(metric.name)
        except (msgspec.ValidationError, ValueError):
            dropped += 1
    return ParsedMetrics(samples, values, dropped, names)


def _list_samples(
    metric: _Metric, app_name: str, find_environment: Callable[[str], str], period: Period
) -> list[ImpactSample]:
    """Raises ValueError."""
    samples = []
    for sample in metric.samples:
        values = sample.to_values()
        if not (sample.labels or values.value or values.count):
            continue  # sent for a metric that was not used since the last report
        labels = {label: str(value) for label, value in sample.labels.items() if value != ""}
        if any(len(value) > MAX_LENGTH for value in labels.values()):
            raise ValueError("A value of a label is too long.")
        app = labels.pop("appName", app_name)
        environment = find_environment(labels.pop("environment", ""))
        if not app or len(labels) > MAX_LABELS:
            raise ValueError("A sample has no application, or too many labels.")
        if environment:
            kind, text = str(metric.__struct_config__.tag), metric.help[:MAX_HELP]
            pairs = tuple(sorted(labels.items()))
            samples.append(
                ImpactSample(app, environment, metric.name, kind, text, pairs, values, period)
            )
    return samples


class ImpactSeries:
    """The series of a group of reports, with the sums of their samples."""

    def __init__(self) -> None:
        self._rows: dict[tuple[Any, ...], SeriesRow] = {}
        self._windows: dict[tuple[Any, ...], dict[tuple[int, datetime], WindowRow]] = {}

    def add(self, name: Name, sample: ImpactSample) -> None:
        """`name` is the name of the application."""
        values = sample.values
        key = (name, sample.name, sample.type, sample.labels, values.bounds)
        row = self._rows.get(key)
        if row is None:
            environment, sdk_type, app_name = name
            row = self._rows[key] = SeriesRow(
                _hash(key),
                _hash((name, sample.name, sample.type, values.bounds)),
                sdk_type,
                environment,
                app_name,
                sample.name,
                sample.type,
                sample.help,
                dict(sample.labels),
                values.bounds,
                value=0.0,
                count=0.0,
                buckets=[0.0] * len(values.buckets),
                samples=0,
                windows=(),
            )
        is_gauge = sample.type == "gauge"
        row.value = values.value if is_gauge else row.value + values.value
        row.count += values.count
        row.buckets = [a + b for a, b in zip(row.buckets, values.buckets, strict=True)]
        row.samples += 1
        self._add_windows(key, sample, is_gauge)

    def list_rows(self, names: set[Name]) -> list[SeriesRow]:
        """The rows of these applications."""
        rows = [(key, row) for key, row in self._rows.items() if key[0] in names]
        for key, row in rows:
            row.windows = [*self._windows[key].values()]
        return [row for _, row in rows]

    def _add_windows(self, key: tuple[Any, ...], sample: ImpactSample, is_gauge: bool) -> None:
        values, windows = sample.values, self._windows.setdefault(key, {})
        for part in split(sample.period):
            place = part.seconds, part.starts_at
            window = windows.get(place)
            if window is None:
                buckets = [0.0] * len(values.buckets)
                window = windows[place] = WindowRow(
                    *place, part.start, part.stop, 0, 0, 0, 0, buckets
                )
            window.covers_from = min(window.covers_from, part.start)
            window.covers_to = max(window.covers_to, part.stop)
            window.value = values.value if is_gauge else window.value + values.value * part.share
            window.count += values.count * part.share
            window.total += values.value * part.share
            window.samples += part.share
            window.buckets = [
                a + b * part.share for a, b in zip(window.buckets, values.buckets, strict=True)
            ]


def _hash(key: tuple[Any, ...]) -> UUID:
    return UUID(bytes=sha256(msgspec.json.encode(key)).digest()[:16])

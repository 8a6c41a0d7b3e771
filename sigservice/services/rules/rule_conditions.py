"""The condition of an alert rule: a source, a limit and a window, or silence; and its checks."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Annotated, ClassVar, Literal

import msgspec

from sigservice.db import Connection
from sigservice.repository.projects import environments
from sigservice.repository.rules import metric_sources
from sigservice.repository.signals import signal_endpoints
from sigservice.services.cron_times import check_cron, find_next_time
from sigservice.services.problems import Problems
from sigservice.services.usage.impact_samples import MAX_LABELS, MAX_LENGTH

MAX_LIMIT = 1e15
MAX_SAMPLES = 10**12
MAX_QUERY = 2000  # characters
MAX_SILENCE = 366 * 86_400  # seconds
QUERY_WINDOW = timedelta(seconds=60)  # of a query that doesn't use the window of its rule
EPOCH = datetime.fromtimestamp(0, UTC)
PERCENTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
_Number = Annotated[float, msgspec.Meta(ge=-MAX_LIMIT, le=MAX_LIMIT)]


class ImpactMetric(msgspec.Struct, tag_field="kind", tag="impactMetric"):
    """`per` is the counter that `metric` is divided by. Without `appName` all applications count,
    and the series of a metric must have all `labels`."""

    metric: str
    measure: Literal["rate", "ratio", "average", "p50", "p95", "p99"]
    environment: str
    per: str | None = None
    appName: str | None = None
    labels: dict[str, str] = {}


class PrometheusQuery(msgspec.Struct, tag_field="kind", tag="prometheus"):
    """`source` is the name of a metric source, `query` an instant query with a window of its
    own."""

    source: str
    query: str


class Silence(msgspec.Struct, tag_field="kind", tag="silence"):
    """A signal of a sender is expected every `everySeconds`, or at the times of `cron` in
    `timezone`, and `graceSeconds` more."""

    endpointId: int
    everySeconds: int | None = None
    cron: str | None = None
    timezone: str = "UTC"
    graceSeconds: int = 0

    def find_expected(self, start: datetime) -> datetime:
        """When the next signal is expected after `start`."""
        if self.everySeconds is not None:
            return start + timedelta(seconds=self.everySeconds)
        return find_next_time(self.cron or "", self.timezone, start) or start + timedelta(
            seconds=MAX_SILENCE
        )

    def find_deadline(self, start: datetime) -> datetime:
        """When the rule fires without a signal after `start`."""
        return self.find_expected(start) + timedelta(seconds=self.graceSeconds)


class Condition(msgspec.Struct):
    """Fires when the value of the source was beyond the limit in `breaches` evaluations in a
    row. Silence has no limit and no window: its value is the number of seconds for which a signal
    is overdue."""

    read_only: ClassVar = (
        "id", "name", "endpointId", "enabled", "createdAt", "createdByUserId", "state",
        "since", "value", "limit", "samples", "from", "to", "reason", "evaluatedAt",
        "lastError",
    )  # fmt: skip

    source: ImpactMetric | PrometheusQuery | Silence
    above: _Number | None = None
    below: _Number | None = None
    windowMinutes: int = 5
    minSamples: int = 1
    breaches: int = 1
    everySeconds: int = 30

    @property
    def limit(self) -> float:
        return self.above if self.above is not None else (self.below or 0.0)

    def find_due_at(self, now: datetime, start: datetime | None = None) -> datetime:
        """The time of the next evaluation. Queries are due at multiples of their interval, so equal
        queries are sent once. Silence, for which the rule waits since `start`, is due when it
        fires."""
        period = timedelta(seconds=self.everySeconds)
        if isinstance(self.source, PrometheusQuery):
            return now + period - (now - EPOCH) % period
        if isinstance(self.source, Silence) and start is not None:
            deadline = self.source.find_deadline(start)
            return min(deadline, now + period) if deadline > now else now + period
        return now + period

    @property
    def covered_time(self) -> timedelta:
        """The time that a value covers. The window of a query is in the query."""
        source = self.source
        if isinstance(source, Silence):
            return timedelta(0)
        if isinstance(source, PrometheusQuery) and "{{window}}" not in source.query:
            return QUERY_WINDOW
        return timedelta(minutes=self.windowMinutes)

    def is_beyond(self, value: float) -> bool:
        if isinstance(self.source, Silence):
            return value >= 0
        if self.above is not None:
            return value > self.above
        return self.below is not None and value < self.below

    def get_condition(self) -> "Condition":
        """The condition alone: the struct of a rule has more members."""
        return Condition(*(getattr(self, name) for name in Condition.__struct_fields__))


LIMIT_MEMBERS = ("above", "below", "windowMinutes", "minSamples", "breaches", "everySeconds")
_NO_LIMIT = Condition(Silence(0))


def fill_query(condition: Condition, names: Mapping[str, str]) -> Condition:
    """The condition with `names`, those of a release, and the window in its query."""
    assert isinstance(condition.source, PrometheusQuery)
    query = condition.source.query
    for name, text in {**names, "window": f"{condition.windowMinutes}m"}.items():
        query = query.replace(f"{{{{{name}}}}}", text)
    return msgspec.structs.replace(
        condition, source=PrometheusQuery(condition.source.source, query)
    )


def check(condition: Condition, problems: Problems, path: str = "") -> None:
    """Adds to `problems`; `check_references` checks what the condition refers to. `path` is empty
    or ends with a dot."""
    if isinstance(condition.source, Silence):
        _check_silence(condition, condition.source, problems, path)
        return
    if isinstance(condition.source, ImpactMetric):
        _check_metric(condition.source, problems, f"{path}source")
    else:
        problems.check_text(
            condition.source.query, f"{path}source.query", min_length=1, max_length=MAX_QUERY
        )
    if (condition.above is None) == (condition.below is None):
        problems.add(f"{path}above", "Enter either above or below.")
    for name, value, least, most in (
        ("windowMinutes", condition.windowMinutes, 1, 1440),
        ("minSamples", condition.minSamples, 0, MAX_SAMPLES),
        ("breaches", condition.breaches, 1, 100),
        ("everySeconds", condition.everySeconds, 15, 3600),
    ):
        if not least <= value <= most:
            problems.add(f"{path}{name}", f"Must be {least} to {most}.")


def check_references(
    conn: Connection, condition: Condition, problems: Problems, path: str = ""
) -> None:
    """Adds to `problems` if the environment, the metric source or the endpoint doesn't exist. The
    metric source stays until the end of the transaction."""
    source = condition.source
    if isinstance(source, ImpactMetric):
        if environments.find(conn, source.environment) is None:
            name = source.environment[:100]
            problems.add(f"{path}source.environment", f"The environment {name} doesn't exist.")
    elif isinstance(source, Silence):
        check_endpoint(conn, source.endpointId, problems, f"{path}source.endpointId")
    elif not metric_sources.keep(conn, source.source):
        message = f"The metric source {source.source[:100]} doesn't exist."
        problems.add(f"{path}source.source", message)


def check_endpoint(conn: Connection, id: int, problems: Problems, path: str) -> None:
    """Adds to `problems` if it doesn't exist."""
    if id == 0:
        problems.add(path, "Choose a signal endpoint.")
    elif not (0 < id < 2**31 and signal_endpoints.find(conn, id)):
        problems.add(path, f"The signal endpoint {id} doesn't exist.")


def _check_silence(condition: Condition, source: Silence, problems: Problems, path: str) -> None:
    for name in LIMIT_MEMBERS:
        if getattr(condition, name) != getattr(_NO_LIMIT, name):
            problems.add(f"{path}{name}", "A rule on silence doesn't have this.")
    at = f"{path}source"
    if (source.everySeconds is None) == (source.cron is None):
        problems.add(f"{at}.everySeconds", "Enter either everySeconds or cron.")
    elif source.cron is not None:
        check_cron(source.cron, source.timezone, at, problems)
    for name, least in (("everySeconds", 1), ("graceSeconds", 0)):
        seconds = getattr(source, name)
        if seconds is not None and not least <= seconds <= MAX_SILENCE:
            problems.add(f"{at}.{name}", f"Must be {least} to {MAX_SILENCE} seconds.")


def _check_metric(source: ImpactMetric, problems: Problems, path: str) -> None:
    texts = {
        "metric": source.metric,
        "environment": source.environment,
        "per": source.per,
        "appName": source.appName,
    }
    for name, text in texts.items():
        _check_text(text, f"{path}.{name}", problems)
    if source.measure == "ratio" and source.per is None:
        problems.add(f"{path}.per", "A ratio needs the counter that the metric is divided by.")
    if source.measure != "ratio" and source.per is not None:
        problems.add(f"{path}.per", "Only a ratio has a counter that the metric is divided by.")
    if len(source.labels) > MAX_LABELS:
        problems.add(f"{path}.labels", f"There can't be more than {MAX_LABELS} labels.")
    for label, value in source.labels.items():
        _check_text(label, f"{path}.labels", problems)
        _check_text(value, f"{path}.labels", problems)


def _check_text(text: str | None, path: str, problems: Problems) -> None:
    if text is not None and not 1 <= len(text) <= MAX_LENGTH:
        problems.add(path, f"Must have 1 to {MAX_LENGTH} characters.")

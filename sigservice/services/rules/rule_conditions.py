"""The condition of an alert rule: a source, a limit and a window; and its checks."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Annotated, ClassVar, Literal

import msgspec

from sigservice.db import Connection
from sigservice.repository.projects import environments
from sigservice.repository.rules import metric_sources
from sigservice.services.problems import Problems
from sigservice.services.usage.impact_samples import MAX_LABELS, MAX_LENGTH

MAX_LIMIT = 1e15
MAX_SAMPLES = 10**12
MAX_QUERY = 2000  # characters
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


class Condition(msgspec.Struct):
    """Fires when the value of the source was beyond the limit in `breaches` evaluations in a
    row."""

    read_only: ClassVar = (
        "id", "name", "endpointId", "enabled", "createdAt", "createdByUserId", "state",
        "since", "value", "limit", "samples", "from", "to", "reason", "evaluatedAt",
        "lastError",
    )  # fmt: skip

    source: ImpactMetric | PrometheusQuery
    above: _Number | None = None
    below: _Number | None = None
    windowMinutes: int = 5
    minSamples: int = 1
    breaches: int = 1
    everySeconds: int = 30

    @property
    def limit(self) -> float:
        return self.above if self.above is not None else (self.below or 0.0)

    def find_due_at(self, now: datetime) -> datetime:
        """The time of the next evaluation. Queries are due at multiples of their interval, so equal
        queries are sent once."""
        period = timedelta(seconds=self.everySeconds)
        if isinstance(self.source, ImpactMetric):
            return now + period
        return now + period - (now - EPOCH) % period

    @property
    def covered_time(self) -> timedelta:
        """The time that a value covers. The window of a query is in the query."""
        source = self.source
        if isinstance(source, PrometheusQuery) and "{{window}}" not in source.query:
            return QUERY_WINDOW
        return timedelta(minutes=self.windowMinutes)

    def is_beyond(self, value: float) -> bool:
        if self.above is not None:
            return value > self.above
        return self.below is not None and value < self.below

    def get_condition(self) -> "Condition":
        """The condition alone: the struct of a rule has more members."""
        return Condition(*(getattr(self, name) for name in Condition.__struct_fields__))


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
    """Adds to `problems` if the environment or the metric source doesn't exist. The source stays
    until the end of the transaction."""
    source = condition.source
    if isinstance(source, ImpactMetric):
        if environments.find(conn, source.environment) is None:
            name = source.environment[:100]
            problems.add(f"{path}source.environment", f"The environment {name} doesn't exist.")
    elif not metric_sources.keep(conn, source.source):
        message = f"The metric source {source.source[:100]} doesn't exist."
        problems.add(f"{path}source.source", message)


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

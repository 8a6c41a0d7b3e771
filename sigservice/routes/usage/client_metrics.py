"""Metrics of flags from SDKs and relays, stored before the response."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any

import msgspec

from sigservice.delivery.revision_cache import Access
from sigservice.errors import NotFoundError
from sigservice.routes.flags.frontend import has_proxy_paths
from sigservice.services.usage.client_applications import DEFAULT_INSTANCE, Instance
from sigservice.services.usage.client_metrics import (
    MAX_COUNT,
    Usage,
    find_hour,
    parse_count,
    parse_time,
)
from sigservice.services.usage.impact_samples import (
    BACKEND_LIMITS,
    FRONTEND_LIMITS,
    NO_METRICS,
    MetricLimits,
    ParsedMetrics,
    parse_metrics,
)
from sigservice.services.usage.impact_stops import MetricsBucket
from sigservice.services.usage.impact_windows import Period, find_period
from sigservice.services.usage.reports import BACKEND, FRONTEND, Report
from sigservice.web import ClientGuard, Context, HTTPResponse, Public, Router, request, respond
from sigservice.web.client_ip import find_client_ip

BULK_LIMIT = 1_000_000
MAX_LENGTH = 255

Name = Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_LENGTH)]
Text = Annotated[str, msgspec.Meta(max_length=MAX_LENGTH)]
Count = int | float | str
Time = str | int | float


class Counts(msgspec.Struct, rename="camel"):
    """Counts may be fractions or text, as some SDKs send them."""

    yes: Count = 0
    no: Count = 0
    variants: dict[str, Count] | None = None

    def __post_init__(self) -> None:
        """A report has many: usual counts are checked without a call for each."""
        yes, no, variants = self.yes, self.no, self.variants
        if not (type(yes) is int is type(no) and yes >= 0 and no >= 0 and yes + no <= MAX_COUNT):
            self.yes, self.no = parse_count(yes), parse_count(no)
        if not variants:
            return
        if max(map(len, variants)) > MAX_LENGTH:
            raise ValueError(f"A variant name must have at most {MAX_LENGTH} characters.")
        values: Any = variants.values()
        if {*map(type, values)} != {int} or min(values) <= 0 or max(values) > MAX_COUNT:
            counts = {name: parse_count(count) for name, count in variants.items()}
            self.variants = {name: count for name, count in counts.items() if count}

    def to_usage(self, feature: str, app_name: str, environment: str, hour: datetime) -> Usage:
        counts: Any = self
        return Usage(
            feature, app_name, environment, hour, counts.yes, counts.no, counts.variants or {}
        )


class Bucket(msgspec.Struct):
    start: Time
    stop: Time
    toggles: dict[str, Counts]

    def __post_init__(self) -> None:
        self.stop = self.stop or 0  # "" from iOS; what is too old counts as now
        parse_time(self.start), parse_time(self.stop)


class MetricsBody(msgspec.Struct, rename="camel"):
    """The token determines environment and projects, not the body."""

    app_name: Name
    instance_id: Text | None = None
    sdk_version: Text | None = None
    bucket: Bucket | None = None
    impact_metrics: list[Any] | None = None


class BulkApplication(msgspec.Struct, rename="camel"):
    app_name: Name
    environment: Name
    instance_id: Text
    interval: Count = 0
    started: Time | None = None
    strategies: list[str] | None = None
    sdk_version: Text | None = None
    sdk_type: Text | None = None

    def __post_init__(self) -> None:
        parse_count(self.interval)
        if self.started is not None:
            parse_time(self.started)


class BulkMetric(Counts, rename="camel", kw_only=True):
    feature_name: str
    app_name: Name
    environment: Name
    timestamp: Time | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.timestamp is not None:
            parse_time(self.timestamp)


class BulkMetricsBody(msgspec.Struct, rename="camel"):
    applications: list[BulkApplication]
    metrics: list[BulkMetric]
    impact_metrics: list[Any] | None = None


class EdgeBody(msgspec.Struct):
    """Any object."""


def store_report(
    context: Context,
    access: Access,
    instances: Sequence[Instance],
    usages: Sequence[Usage],
    impact: ParsedMetrics = NO_METRICS,
    sdk_type: str = BACKEND,
    bucket: MetricsBucket | None = None,
) -> None:
    """Stores what the limits allow, together with concurrent reports. Raises UnavailableError."""
    report = Report(
        instances,
        usages,
        sdk_type=sdk_type,
        ip=find_client_ip(request.environ, context.trusted_proxies),
        is_anonymous=access.is_anonymous,
        samples=impact.samples,
        values=impact.values,
        bucket=bucket,
        dropped_metrics=impact.dropped,
        projects=None if access.has_all_projects else access.projects,
    )
    max_variants = context.config["metrics"]["variantsLimit"]
    context.report_commits[sdk_type].store(report.limit(max_variants))


def _is_edge_enabled(config: dict[str, Any]) -> bool:
    return bool(config["experimentalEdgeBulkMetrics"])


router = Router(ClientGuard, "client")
frontend_router = Router(ClientGuard, "frontend")
proxy_router = Router(ClientGuard, "frontend", is_enabled=has_proxy_paths)
edge_router = Router(ClientGuard, "client", "admin", is_enabled=_is_edge_enabled)
disabled_edge_router = Router(Public, is_enabled=lambda config: not _is_edge_enabled(config))


def _store_metrics(context: Context, access: Access, body: MetricsBody, sdk_type: str) -> None:
    sdk = body.sdk_version or request.environ.get("HTTP_UNLEASH_SDK", "")
    instance = Instance(
        body.app_name, body.instance_id or "", access.environment, sdk[:MAX_LENGTH], sdk_type
    )
    usages: list[Usage] = []
    if body.bucket is not None:
        hour = find_hour(parse_time(body.bucket.stop), context.clock.now())
        usages = [
            counts.to_usage(feature, body.app_name, access.environment, hour)
            for feature, counts in body.bucket.toggles.items()
            if counts.yes or counts.no or counts.variants
        ]
    impact, bucket = NO_METRICS, None
    if body.impact_metrics:
        limits = FRONTEND_LIMITS if sdk_type == FRONTEND else BACKEND_LIMITS
        period = _find_period(context, body.bucket, limits)
        impact = parse_metrics(
            body.impact_metrics, body.app_name, lambda label: access.environment, period, limits
        )
        if body.bucket is not None and sdk_type == BACKEND:
            key = body.app_name, body.instance_id or DEFAULT_INSTANCE, access.environment
            bucket = MetricsBucket(*key, impact.names, period)
    store_report(context, access, [instance], usages, impact, sdk_type, bucket)


def _find_period(context: Context, bucket: Bucket | None, limits: MetricLimits) -> Period:
    now = context.clock.now()
    if bucket is None:
        return find_period(None, None, now)
    start, stop = parse_time(bucket.start), parse_time(bucket.stop)
    return find_period(start, stop, now, limits.longest)


def _store_bulk_metrics(context: Context, access: Access, body: BulkMetricsBody) -> None:
    """Ignores other environments than the token's, except for admin tokens."""
    now = context.clock.now()
    is_admin = access.type == "admin"
    instances = [
        Instance(a.app_name, a.instance_id, a.environment, a.sdk_version, a.sdk_type, a.strategies)
        for a in body.applications
        if is_admin or a.environment == access.environment
    ]
    usages = [
        m.to_usage(
            m.feature_name,
            m.app_name,
            m.environment,
            find_hour(now if m.timestamp is None else parse_time(m.timestamp), now),
        )
        for m in body.metrics
        if (is_admin or m.environment == access.environment) and (m.yes or m.no or m.variants)
    ]

    def find_environment(label: str) -> str:
        if is_admin:
            return label
        return access.environment if label in ("", access.environment) else ""

    impact = NO_METRICS
    if body.impact_metrics:
        period = find_period(None, None, context.clock.now())
        impact = parse_metrics(body.impact_metrics, "", find_environment, period)
    store_report(context, access, instances, usages, impact)


METRICS: dict[str, Any] = {"takes": MetricsBody}
FRONTEND_METRICS = METRICS | {"limit": "frontend_metrics"}
BULK_METRICS = METRICS | {
    "takes": BulkMetricsBody,
    "limit": "client_metrics",
    "body_limit": BULK_LIMIT,
}


@router.post("/api/client/metrics", **METRICS, limit="client_metrics")
def receive_client_metrics(context: Context, access: Access, body: MetricsBody) -> HTTPResponse:
    """Body: `{appName, instanceId?, bucket?}`. 202."""
    _store_metrics(context, access, body, BACKEND)
    return respond.empty(202)


@router.post("/api/client/metrics/bulk", **BULK_METRICS)
def receive_bulk_metrics(context: Context, access: Access, body: BulkMetricsBody) -> HTTPResponse:
    """Body: `{applications, metrics}`, up to 1 MB. 202."""
    _store_bulk_metrics(context, access, body)
    return respond.empty(202)


@router.post(
    "/api/client/metrics/edge", takes=EdgeBody, limit="client_metrics", body_limit=BULK_LIMIT
)
def accept_edge_report(context: Context, access: Access, body: EdgeBody) -> HTTPResponse:
    """Body: an object, up to 1 MB: what Unleash Edge reports about itself. 202; nothing is stored.

    Without 202 it would report an error.
    """
    return respond.empty(202)


# SDKs add /client/metrics to their URL, which may end in /all; the specification has /metrics.
@frontend_router.post("/api/frontend/client/metrics", **FRONTEND_METRICS)
@frontend_router.post("/api/frontend/all/client/metrics", **FRONTEND_METRICS)
@frontend_router.post("/api/frontend/metrics", **FRONTEND_METRICS)
@proxy_router.post("/api/proxy/client/metrics", **FRONTEND_METRICS)
@proxy_router.post("/api/proxy/all/client/metrics", **FRONTEND_METRICS)
def receive_frontend_metrics(context: Context, access: Access, body: MetricsBody) -> HTTPResponse:
    """Body: as `/api/client/metrics`. 200 `OK`. All names have one rate limit."""
    _store_metrics(context, access, body, FRONTEND)
    return respond.text("OK")


@edge_router.post("/edge/metrics", **BULK_METRICS)
def receive_edge_metrics(context: Context, access: Access, body: BulkMetricsBody) -> HTTPResponse:
    """Body: as bulk. 202; 404 unless `SERVICE_EXPERIMENTAL_EDGE_BULK_METRICS` is on."""
    _store_bulk_metrics(context, access, body)
    return respond.empty(202)


@disabled_edge_router.post("/edge/metrics", limit="client_metrics")
def reject_edge_metrics(context: Context) -> HTTPResponse:
    raise NotFoundError(
        "Bulk metrics at this URL are disabled.",
        extra={
            "status": "disabled",
            "reason": "disabled by configuration",
            "help": "Use POST /api/client/metrics/bulk, or set "
            "SERVICE_EXPERIMENTAL_EDGE_BULK_METRICS=true.",
        },
    )

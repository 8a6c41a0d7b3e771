"""Metrics of flags from SDKs and relays: stored before they are acknowledged."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any

import msgspec
from bottle import HTTPResponse, request

from sigservice.context import Context
from sigservice.errors import NotFoundError
from sigservice.flags.revision_cache import Access
from sigservice.services.usage import reports
from sigservice.services.usage.client_applications import Instance
from sigservice.services.usage.client_metrics import Usage, moment, whole
from sigservice.services.usage.reports import BACKEND, FRONTEND
from sigservice.web import respond
from sigservice.web.client_ip import find_client_ip
from sigservice.web.guards import ClientGuard, Public
from sigservice.web.router import Router

BULK_LIMIT = 1_000_000
LONGEST = 255

Name = Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST)]
Text = Annotated[str, msgspec.Meta(max_length=LONGEST)]
Count = int | float | str
Moment = str | int | float


class Counts(msgspec.Struct, rename="camel"):
    """Counts may be fractions or text, as some SDKs send them; they are rounded down."""

    yes: Count = 0
    no: Count = 0
    variants: dict[str, Count] | None = None

    def __post_init__(self) -> None:
        self.yes, self.no = whole(self.yes), whole(self.no)
        self.variants = {name: whole(count) for name, count in (self.variants or {}).items()}
        if any(len(name) > LONGEST for name in self.variants):
            raise ValueError(f"A variant's name has at most {LONGEST} characters.")

    def usage(self, feature: str, app_name: str, environment: str, at: datetime) -> Usage:
        variants = {name: int(count) for name, count in (self.variants or {}).items()}
        return Usage(feature, app_name, environment, at, int(self.yes), int(self.no), variants)


class Bucket(msgspec.Struct):
    start: Moment
    stop: Moment
    toggles: dict[str, Counts]

    def __post_init__(self) -> None:
        moment(self.start), moment(self.stop)


class MetricsBody(msgspec.Struct, rename="camel"):
    """Environment and projects are the token's, whatever the body says."""

    app_name: Name
    instance_id: Text | None = None
    sdk_version: Text | None = None
    bucket: Bucket | None = None


class BulkApplication(msgspec.Struct, rename="camel"):
    app_name: Name
    environment: Name
    instance_id: Text
    interval: Count = 0
    started: Moment | None = None
    strategies: list[str] | None = None
    sdk_version: Text | None = None
    sdk_type: Text | None = None

    def __post_init__(self) -> None:
        whole(self.interval)
        if self.started is not None:
            moment(self.started)


class BulkMetric(Counts, rename="camel", kw_only=True):
    feature_name: str
    app_name: Name
    environment: Name
    timestamp: Moment | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.timestamp is not None:
            moment(self.timestamp)


class BulkBody(msgspec.Struct, rename="camel"):
    applications: list[BulkApplication]
    metrics: list[BulkMetric]


def store_report(
    context: Context,
    access: Access,
    instances: Sequence[Instance],
    usages: Sequence[Usage],
    sdk_type: str = BACKEND,
) -> None:
    """Stores what the limits allow, then counts it. Raises UnavailableError."""
    with context.database.transaction(bulkhead="usage") as conn:
        stored = reports.store(
            conn,
            instances,
            usages,
            sdk_type=sdk_type,
            ip=find_client_ip(request.environ, context.trusted_proxies),
            now=context.clock.now(),
            limits=reports.Limits.of(context.config),
        )
    flags = context.telemetry.flags
    for kind, amount in stored.dropped.items():
        flags.count_dropped(kind, amount)
    for name in stored.unknown_flags:
        flags.unknown.bounded(name)
    for used in stored.usages:
        app_name = "" if access.is_anonymous else used.app_name
        flags.count_usage(used.feature, app_name, used.yes, used.no)


def _takes_edge_metrics(config: dict[str, Any]) -> bool:
    return bool(config["experimentalEdgeBulkMetrics"])


router = Router(ClientGuard, "client")
frontend_router = Router(ClientGuard, "frontend")
edge_router = Router(ClientGuard, "client", "admin", is_enabled=_takes_edge_metrics)
disabled_edge_router = Router(Public, is_enabled=lambda config: not _takes_edge_metrics(config))


def store(context: Context, access: Access, body: MetricsBody, sdk_type: str) -> None:
    sdk = body.sdk_version or request.environ.get("HTTP_UNLEASH_SDK", "")
    instance = Instance(
        body.app_name, body.instance_id or "", access.environment, sdk[:LONGEST], sdk_type
    )
    usages: list[Usage] = []
    if body.bucket is not None:
        at = moment(body.bucket.stop)
        usages = [
            counts.usage(feature, body.app_name, access.environment, at)
            for feature, counts in body.bucket.toggles.items()
        ]
    store_report(context, access, [instance], usages, sdk_type)


def store_bulk(context: Context, access: Access, body: BulkBody) -> None:
    """Of other environments than the token's nothing is stored."""
    now = context.clock.now()
    everywhere = access.type == "admin"
    instances = [
        Instance(a.app_name, a.instance_id, a.environment, a.sdk_version, a.sdk_type, a.strategies)
        for a in body.applications
        if everywhere or a.environment == access.environment
    ]
    usages = [
        m.usage(
            m.feature_name,
            m.app_name,
            m.environment,
            now if m.timestamp is None else moment(m.timestamp),
        )
        for m in body.metrics
        if everywhere or m.environment == access.environment
    ]
    store_report(context, access, instances, usages)


@router.post("/api/client/metrics", takes=MetricsBody, limit="client_metrics")
def client_metrics(context: Context, access: Access, body: MetricsBody) -> HTTPResponse:
    store(context, access, body, BACKEND)
    return respond.empty(202)


@router.post(
    "/api/client/metrics/bulk", takes=BulkBody, limit="client_metrics", body_limit=BULK_LIMIT
)
def bulk(context: Context, access: Access, body: BulkBody) -> HTTPResponse:
    store_bulk(context, access, body)
    return respond.empty(202)


# The first is what SDKs call, the second what the specification names.
@frontend_router.post("/api/frontend/client/metrics", takes=MetricsBody, limit="frontend_metrics")
@frontend_router.post("/api/frontend/metrics", takes=MetricsBody, limit="frontend_metrics")
def frontend_metrics(context: Context, access: Access, body: MetricsBody) -> HTTPResponse:
    store(context, access, body, FRONTEND)
    return respond.text("OK")


@edge_router.post("/edge/metrics", takes=BulkBody, limit="client_metrics", body_limit=BULK_LIMIT)
def edge_metrics(context: Context, access: Access, body: BulkBody) -> HTTPResponse:
    store_bulk(context, access, body)
    return respond.empty(202)


@disabled_edge_router.post("/edge/metrics", limit="client_metrics")
def refuse_edge_metrics(context: Context) -> HTTPResponse:
    raise NotFoundError(
        "Bulk metrics at this address are disabled.",
        extra={
            "status": "disabled",
            "reason": "disabled by configuration",
            "help": "Use POST /api/client/metrics/bulk, or set "
            "SERVICE_EXPERIMENTAL_EDGE_BULK_METRICS=true.",
        },
    )

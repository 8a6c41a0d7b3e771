"""Metric sources, JSON: list, create, read, replace, delete, query."""

from typing import ClassVar

import msgspec

from sigservice.errors import BadDataError
from sigservice.repository.rules import metric_sources as source_rows
from sigservice.services.deliveries import DeliverySettings
from sigservice.services.identity import ADMIN, VIEW, Identity
from sigservice.services.rules import metric_sources
from sigservice.services.rules.metric_sources import MetricSource
from sigservice.services.rules.prometheus import Answer, PrometheusClient
from sigservice.services.rules.rule_conditions import MAX_QUERY
from sigservice.web import AdminGuard, Connection, Context, Json, Router, respond

PATH = "/api/admin/metric-sources"

router = Router(AdminGuard)


class QueryBody(msgspec.Struct):
    read_only: ClassVar = ()

    query: str


@router.get(PATH, needs=VIEW, autocommit=True)
def list_metric_sources(conn: Connection, identity: Identity) -> Json:
    """`{"metricSources": [source]}`, by name."""
    rows = source_rows.list_all(conn)
    return {"metricSources": [metric_sources.describe_for(identity, row) for row in rows]}


@router.post(PATH, needs=ADMIN, takes=MetricSource)
def create_metric_source(context: Context, identity: Identity, body: MetricSource) -> Json:
    """Body: `{name, url, auth?, headers?, timeoutSeconds?}`. 201 source, `Location`."""
    policy = DeliverySettings.from_config(context.config).policy
    with context.database.transaction() as conn:
        row = metric_sources.create(conn, body, identity, context.encryption, policy)
    return respond.Created(metric_sources.to_json(row), f"{PATH}/{body.name}")


@router.get(f"{PATH}/<name>", needs=VIEW, autocommit=True)
def get_metric_source(conn: Connection, identity: Identity, name: str) -> Json:
    """Source; only admins get the values of `headers`."""
    return metric_sources.describe_for(identity, metric_sources.get(conn, name))


@router.put(f"{PATH}/<name>", needs=ADMIN, takes=MetricSource)
def replace_metric_source(
    context: Context, identity: Identity, name: str, body: MetricSource
) -> Json:
    """Body: as create without `name`; without a secret the stored one stays. Source."""
    policy = DeliverySettings.from_config(context.config).policy
    with context.database.transaction() as conn:
        row = metric_sources.update(conn, name, body, identity, context.encryption, policy)
    return metric_sources.to_json(row)


@router.delete(f"{PATH}/<name>", needs=ADMIN)
def delete_metric_source(conn: Connection, identity: Identity, name: str) -> None:
    """409 while an alert rule or a release under way queries it."""
    metric_sources.delete(conn, name, identity)


@router.post(f"{PATH}/<name>/query", needs=ADMIN, takes=QueryBody)
def query_metric_source(context: Context, identity: Identity, name: str, body: QueryBody) -> Json:
    """Body: `{query}`. `{value, reason, warnings}`; without a value `reason` says why."""
    answer = run_query(context, name, body.query)
    return {"value": answer.value, "reason": answer.reason, "warnings": answer.warnings}


def run_query(context: Context, name: str, query: str) -> Answer:
    """Raises NotFoundError, BadDataError."""
    if not 1 <= len(query) <= MAX_QUERY:
        raise BadDataError(f"The query must have 1 to {MAX_QUERY} characters.", path="query")
    with context.database.autocommit() as conn:
        row = metric_sources.get(conn, name)
    return make_client(context).query(row, query, context.clock.now())


def make_client(context: Context) -> PrometheusClient:
    """It waits until no other thread queries the source, unless many requests wait."""
    settings = DeliverySettings.from_config(context.config)
    return PrometheusClient(settings, context.encryption, context.source_locks.hold_for_request)

"""Metric sources, alert rules and schedules in the file of `sigservice export`.

Endpoints and service accounts are referenced by name, because IDs differ between servers. Metric
sources have no secrets.
"""

from typing import Any, Literal

import msgspec

from sigservice.db import Connection, Row
from sigservice.repository.access import service_accounts
from sigservice.repository.actions import action_sets as set_rows
from sigservice.repository.rules import alert_rules as rule_rows
from sigservice.repository.rules import metric_sources as source_rows
from sigservice.repository.signals import signal_endpoints
from sigservice.services.actions import action_sets, schedules
from sigservice.services.actions.action_set_options import ActionSetOptions
from sigservice.services.actions.action_sets import Action
from sigservice.services.actions.schedules import NO_ENDPOINT, Schedule
from sigservice.services.rules import metric_sources
from sigservice.services.rules.alert_rules import read_condition
from sigservice.services.rules.rule_conditions import (
    Condition,
    ImpactMetric,
    PrometheusQuery,
    Silence,
)
from sigservice.services.transfer.snapshots import Snapshot, read_snapshot


class SourceAuthDefinition(msgspec.Struct, omit_defaults=True):
    """Like `SourceAuth` without its secret."""

    type: Literal["none", "basic", "bearer"]
    username: str | None = None


class MetricSourceDefinition(msgspec.Struct):
    name: str
    url: str
    auth: SourceAuthDefinition
    headers: dict[str, str] = {}
    timeoutSeconds: int = 5


class SilenceDefinition(msgspec.Struct, tag_field="kind", tag="silence"):
    """Like `Silence`; `endpoint` is a name."""

    endpoint: str
    everySeconds: int | None = None
    cron: str | None = None
    timezone: str = "UTC"
    graceSeconds: int = 0


class AlertRuleDefinition(Condition, kw_only=True):
    """`endpoint` is the name of a signal endpoint."""

    source: ImpactMetric | PrometheusQuery | SilenceDefinition  # type: ignore[assignment]
    name: str
    endpoint: str
    enabled: bool = True


class ActorDefinition(msgspec.Struct):
    """A service account, without its tokens. `rootRole` is the name of its role."""

    username: str
    name: str | None = None
    rootRole: str = "Viewer"


class ScheduleDefinition(msgspec.Struct):
    """An action set that a clock triggers."""

    project: str
    name: str
    actor: ActorDefinition
    match: Schedule
    actions: list[Action]
    description: str | None = None
    enabled: bool = True
    options: ActionSetOptions = msgspec.field(default_factory=ActionSetOptions)


class Export(Snapshot):
    """The file."""

    metricSources: list[MetricSourceDefinition] = msgspec.field(default_factory=list)
    alertRules: list[AlertRuleDefinition] = msgspec.field(default_factory=list)
    schedules: list[ScheduleDefinition] = msgspec.field(default_factory=list)


def read_export(conn: Connection) -> Export:
    """Everything. The result is consistent in a snapshot transaction."""
    snapshot = read_snapshot(conn)
    links = {item.id: {it.environment for it in item.environments} for item in snapshot.projects}
    for flag in snapshot.features:
        # A project that stops using an environment keeps its strategies there.
        flag.environments = [
            it for it in flag.environments if it.environment in links[flag.project]
        ]
    endpoints = {row["id"]: row["name"] for row in signal_endpoints.list_all(conn)}
    accounts = {row["id"]: row for row in service_accounts.list_all(conn)}
    rules = [describe_rule(row, endpoints) for row in rule_rows.list_all(conn)]
    names = {None, *(item.name for item in snapshot.environments)}  # a rule outlives its own
    return Export(
        **msgspec.structs.asdict(snapshot),
        metricSources=[describe_source(row) for row in source_rows.list_all(conn)],
        alertRules=[it for it in rules if getattr(it.source, "environment", None) in names],
        schedules=[
            describe_schedule(row, accounts[row["actor_id"]])
            for row in set_rows.list_all(conn)
            if row["endpoint_id"] == NO_ENDPOINT
            and row["actor_id"] in accounts
            and not schedules.is_done(row)
        ],
    )


def describe_source(row: Row) -> MetricSourceDefinition:
    source = metric_sources.read(row)
    auth = SourceAuthDefinition(source.auth.type, source.auth.username)
    return MetricSourceDefinition(
        source.name, source.url, auth, source.headers, source.timeoutSeconds
    )


def describe_rule(row: Row, endpoints: dict[int, str]) -> AlertRuleDefinition:
    members = msgspec.structs.asdict(read_condition(row))
    if isinstance(source := members["source"], Silence):
        texts = msgspec.structs.asdict(source)
        endpoint = endpoints[texts.pop("endpointId")]
        members["source"] = SilenceDefinition(endpoint=endpoint, **texts)
    return AlertRuleDefinition(
        **members,
        name=row["name"],
        endpoint=endpoints[row["endpoint_id"]],
        enabled=row["enabled"],
    )


def describe_schedule(row: Row, actor: Row) -> ScheduleDefinition:
    """`row` must be an action set with a schedule."""
    fields: dict[str, Any] = action_sets.to_json(row)
    account = ActorDefinition(actor["username"], actor["name"], actor["role"])
    return msgspec.convert(fields | {"actor": account}, ScheduleDefinition)


def list_endpoints(rule: AlertRuleDefinition) -> list[str]:
    """The names of the endpoints of a rule."""
    silent = [rule.source.endpoint] if isinstance(rule.source, SilenceDefinition) else []
    return [rule.endpoint, *silent]

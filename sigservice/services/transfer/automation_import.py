"""Imports metric sources, alert rules and schedules by the rules of their services.

Existing items of the same name change, nothing is deleted, and an invalid item fails the whole
import. Endpoints and service accounts that are missing are created, without tokens.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from msgspec.structs import asdict, replace

from sigservice.crypto.encryption import Encryption
from sigservice.db import Connection, Row
from sigservice.errors import BadDataError, ExceedsLimitError, NameExistsError, NotFoundError
from sigservice.repository.access import service_accounts as account_rows
from sigservice.repository.actions import action_sets as set_rows
from sigservice.repository.flags import features as flag_rows
from sigservice.repository.projects import environments as environment_rows
from sigservice.repository.rules import alert_rules as rule_rows
from sigservice.repository.rules import metric_sources as source_rows
from sigservice.repository.signals import signal_endpoints as endpoint_rows
from sigservice.services.access import service_accounts
from sigservice.services.actions import action_sets, schedules
from sigservice.services.actions.action_sets import ActionSetFields, read_limits
from sigservice.services.actions.schedules import NO_ENDPOINT
from sigservice.services.deliveries import DeliverySettings
from sigservice.services.identity import Identity
from sigservice.services.problems import Problems
from sigservice.services.rules import alert_rules, metric_sources
from sigservice.services.rules.alert_rules import AlertRule
from sigservice.services.rules.metric_sources import MetricSource, SourceAuth
from sigservice.services.rules.rule_conditions import Silence
from sigservice.services.signals import signal_endpoints
from sigservice.services.signals.signal_endpoints import Endpoint, check_fields
from sigservice.services.transfer.automations import (
    ActorDefinition,
    AlertRuleDefinition,
    Export,
    MetricSourceDefinition,
    ScheduleDefinition,
    SilenceDefinition,
    describe_rule,
    describe_schedule,
    describe_source,
    list_endpoints,
)
from sigservice.services.transfer.snapshot_import import Notice, PartialChanges
from sigservice.services.transfer.snapshot_writer import ImportChange


class AutomationImporter:
    """Call `write` once, after the projects, environments and flags were imported."""

    def __init__(
        self,
        conn: Connection,
        by: Identity,
        config: dict[str, Any],
        encryption: Encryption,
        now: datetime,
    ) -> None:
        self._conn, self._by, self._encryption, self._now = conn, by, encryption, now
        self._signals, self._limits = config["signals"], read_limits(config)
        self._policy = DeliverySettings.from_config(config).policy
        self._changes = PartialChanges()
        self._details: list[dict[str, Any]] = []

    def write(self, export: Export) -> PartialChanges:
        """Raises BadDataError with all problems, ExceedsLimitError."""
        if not (export.metricSources or export.alertRules or export.schedules):
            return self._changes
        endpoint_rows.lock_all(self._conn)
        rule_rows.lock_all(self._conn)
        set_rows.lock(self._conn)
        self._put_sources(export.metricSources)
        self._put_rules(export.alertRules)
        self._put_schedules(export.schedules)
        if self._details:
            raise BadDataError(self._details[0]["message"], details=self._details)
        return self._changes

    def _put_sources(self, items: list[MetricSourceDefinition]) -> None:
        existing = {row["name"]: row for row in source_rows.list_all(self._conn)}
        for index, item in enumerate(items):
            with self._collect(f"metricSources[{index}]"):
                row = before = existing.get(item.name)
                if row is None or describe_source(row) != item:
                    row = self._put_source(item, before)
                    self._report("metric-source", item.name, before)
                if row["encrypted_secret"] is None and item.auth.type != "none":
                    secret = "password" if item.auth.type == "basic" else "token"
                    self._changes.secrets.append(
                        Notice(f"metric source {item.name}", f"its {secret}")
                    )

    def _put_source(self, item: MetricSourceDefinition, before: Row | None) -> Row:
        auth = SourceAuth(item.auth.type, item.auth.username)
        new = MetricSource(item.url, item.name, auth, item.headers, item.timeoutSeconds)
        arguments = (self._by, self._encryption, self._policy)
        if before is None:
            return metric_sources.create(self._conn, new, *arguments, is_import=True)
        return metric_sources.update(self._conn, item.name, new, *arguments, is_import=True)

    def _put_rules(self, items: list[AlertRuleDefinition]) -> None:
        endpoints = {row["name"]: row["id"] for row in endpoint_rows.list_all(self._conn)}
        names = {id: name for name, id in endpoints.items()}
        existing = {row["name"]: row for row in rule_rows.list_all(self._conn)}
        for index, item in enumerate(items):
            before = existing.get(item.name)
            if before is not None and describe_rule(before, names) == item:
                continue
            with self._collect(f"alertRules[{index}]", name="endpoint"):
                for name in list_endpoints(item):
                    if name not in endpoints:
                        endpoints[name] = self._create_endpoint(name)
            if not endpoints.keys() >= {*list_endpoints(item)}:
                continue
            with self._collect(f"alertRules[{index}]"):
                self._put_rule(item, endpoints, before)
                self._report("alert-rule", item.name, before)

    def _create_endpoint(self, name: str) -> int:
        row = signal_endpoints.create(
            self._conn,
            check_fields(Endpoint(name)),
            self._by,
            limit=self._signals["endpointsLimit"],
        )
        self._report("signal-endpoint", name, None)
        return int(row["id"])

    def _put_rule(
        self, item: AlertRuleDefinition, endpoints: dict[str, int], before: Row | None
    ) -> None:
        members = asdict(item.get_condition())
        if isinstance(item.source, SilenceDefinition):
            texts = asdict(item.source)
            members["source"] = Silence(endpoints[texts.pop("endpoint")], **texts)
        rule = AlertRule(
            **members,
            name=item.name,
            endpointId=endpoints[item.endpoint],
            enabled=item.enabled,
        )
        if before is None:
            limit = self._signals["alertRulesLimit"]
            alert_rules.create(self._conn, rule, self._by, limit=limit, now=self._now)
        else:
            alert_rules.update(self._conn, before["id"], rule, self._by, now=self._now)

    def _put_schedules(self, items: list[ScheduleDefinition]) -> None:
        accounts = {row["username"]: row for row in account_rows.list_all(self._conn)}
        by_id = {row["id"]: row for row in accounts.values()}
        existing = {(row["project"], row["name"]): row for row in set_rows.list_all(self._conn)}
        for index, item in enumerate(items):
            before, name = existing.get((item.project, item.name)), f"schedule {item.name}"
            if before is not None and _is_same(item, before, by_id.get(before["actor_id"])):
                continue
            if reason := self._find_obstacle(item, before):
                self._changes.skipped.append(Notice(name, reason))
                continue
            with self._collect(f"schedules[{index}]", project="project", actorId="actor.username"):
                if item.actor.username not in accounts:
                    accounts[item.actor.username] = self._create_account(item.actor)
                self._put_schedule(item, accounts[item.actor.username]["id"], before)
                self._report("schedule", item.name, before)

    def _find_obstacle(self, item: ScheduleDefinition, before: Row | None) -> str:
        """Why the schedule can't be imported, "" if it can."""
        for action in item.actions:
            if reason := self._find_missing_target(item.project, action.executionParams):
                return reason
        if before is not None and before["endpoint_id"] != NO_ENDPOINT:
            return "the action set of this name is triggered by an endpoint here"
        problems = Problems()
        schedules.check_schedule(item.match, problems, after=None)
        is_valid = not problems.details
        if is_valid and schedules.find_due_time(item.match, self._now) is None:
            return "its time has passed"
        return ""

    def _find_missing_target(self, project: str, params: dict[str, Any]) -> str:
        """A set outlives its flags, and keeps an environment that its project stops using."""
        flag, environment = params.get("featureName"), params.get("environment")
        if flag and flag_rows.find(self._conn, str(flag)) is None:
            return f"its flag {flag} isn't here"
        rows = environment_rows.list_by_project(self._conn, project)
        names = {row["name"] for row in rows if row["visible"]}
        is_missing = names and environment and environment not in names
        return f"the project doesn't use its environment {environment}" if is_missing else ""

    def _create_account(self, actor: ActorDefinition) -> Row:
        fields = {"username": actor.username, "name": actor.name, "root_role": actor.rootRole}
        row = service_accounts.create(self._conn, fields, self._by)
        self._report("service-account", actor.username, None)
        return row

    def _put_schedule(self, item: ScheduleDefinition, actor_id: int, before: Row | None) -> None:
        new = ActionSetFields(
            item.name,
            item.description,
            item.enabled,
            actor_id,
            NO_ENDPOINT,
            [],
            item.actions,
            item.options,
            schedule=item.match,
        )
        arguments = (new, self._by, self._limits, self._now)
        if before is None:
            action_sets.create(self._conn, item.project, *arguments)
        else:
            action_sets.update(self._conn, item.project, before["id"], *arguments)

    @contextmanager
    def _collect(self, path: str, **names: str) -> Iterator[None]:
        """Collects the problems of an item, whose fields `names` have other names in the file."""
        try:
            yield
        except ExceedsLimitError:
            raise
        except (BadDataError, NotFoundError, NameExistsError) as error:
            for detail in error.details:
                field_name = str(detail.get("path", ""))
                place = ".".join(filter(None, (path, names.get(field_name, field_name))))
                self._details.append({"message": detail["message"], "path": place})

    def _report(self, kind: str, name: str, before: Row | None) -> None:
        description = "created" if before is None else "updated"
        self._changes.entries.append(ImportChange(kind, name, description))


def _is_same(item: ScheduleDefinition, row: Row, actor: Row | None) -> bool:
    if row["endpoint_id"] != NO_ENDPOINT or actor is None:
        return False
    current = describe_schedule(row, actor)
    return current.actor.username == item.actor.username and item == replace(
        current, actor=item.actor
    )

"""Action sets: what they listen to, whom they act as, what they do. Rules, limits and audit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import msgspec

from sigservice.clock import format_iso
from sigservice.db.errors import UniqueViolation
from sigservice.db.pool import Connection
from sigservice.db.statements import Row
from sigservice.errors import ConflictError, ExceedsLimitError, NameExistsError, NotFoundError
from sigservice.outgoing.addresses import AddressPolicy
from sigservice.repository.access import service_accounts
from sigservice.repository.actions import action_sets
from sigservice.repository.projects import projects
from sigservice.repository.signals import signal_endpoints
from sigservice.services.actions import (
    action_channels,
    action_filters,
    notification_channels,
    payload_paths,
)
from sigservice.services.actions.action_channels import Channel, masked
from sigservice.services.actions.action_filters import Filter
from sigservice.services.actions.action_kinds.table import KINDS
from sigservice.services.identity import Identity
from sigservice.services.problems import Problems
from sigservice.services.system import events

LONGEST_COOLDOWN = 7 * 86_400


class Resolved(msgspec.Struct, omit_defaults=True):
    """When a signal says that the alert is over: `path` has one of `values`. `key` is the path of
    what ties it to the signal that fired."""

    path: str
    values: list[str]
    key: str


class Settings(msgspec.Struct, omit_defaults=True):
    """How a set behaves beside what it does. All are off unless given."""

    cooldownSeconds: int = 0
    maxRunsPerHour: int | None = None
    latch: bool = False
    dryRun: bool = False
    continueOnFailure: bool = False
    restoreAfterMinutes: int | None = None
    restoreWhenResolved: Resolved | None = None
    notifications: list[Channel] = []


class Action(msgspec.Struct):
    action: str
    sortOrder: int
    executionParams: dict[str, Any] = {}


@dataclass(frozen=True)
class Fields:
    name: str
    description: str | None
    enabled: bool | None
    actor_id: int
    source_id: int
    filters: list[Filter]
    actions: list[Action]
    settings: Settings
    filter_paths: list[str] | None = None
    """Where each filter stands in what was sent."""


@dataclass(frozen=True)
class Limits:
    """SERVICE_ACTION_*_LIMIT, and whom notifications may policy."""

    sets: int
    filters: int
    values: int
    actions: int
    policy: AddressPolicy = field(default_factory=AddressPolicy)


def limits_of(config: dict[str, Any]) -> Limits:
    found = config["actions"]
    return Limits(
        found["setsPerProjectLimit"],
        found["filtersLimit"],
        found["filterValuesLimit"],
        found["actionsLimit"],
        notification_channels.Settings.from_config(config).policy,
    )


def create(conn: Connection, project: str, new: Fields, by: Identity, limits: Limits) -> Row:
    """Raises NotFoundError (project), BadDataError with all that is wrong, NameExistsError,
    ExceedsLimitError."""
    action_sets.lock(conn)
    check_project(conn, project)
    _check(conn, project, new, limits)
    if action_sets.count(conn, project) >= limits.sets:
        raise ExceedsLimitError(
            f"A project can't have more than {limits.sets} action sets.",
            resource="actionSetsPerProject",
            limit=limits.sets,
        )
    try:
        id = action_sets.insert(
            conn,
            project=project,
            **_columns(new),
            enabled=new.enabled is not False,
            created_by_user_id=by.user_id,
        )
    except UniqueViolation as error:
        raise _taken(new.name) from error
    _put_actions(conn, id, new, by)
    row = get(conn, project, id)
    events.record(conn, "actions-created", by, data=to_json(row), project=project)
    return row


def get(conn: Connection, project: str, id: int) -> Row:
    """Raises NotFoundError."""
    row = action_sets.find(conn, project, id) if id < 2**31 else None
    if row is None:
        raise NotFoundError("There is no such action set.")
    return row


def list_of_project(conn: Connection, project: str) -> list[Row]:
    """Raises NotFoundError."""
    check_project(conn, project)
    return action_sets.list_of_project(conn, project)


def update(
    conn: Connection, project: str, id: int, new: Fields, by: Identity, limits: Limits
) -> Row:
    """Replaces all but `enabled`, which stays when it is None. Raises as `create` does."""
    action_sets.lock(conn)
    before = get(conn, project, id)
    old = msgspec.json.decode(before["settings"]).get("notifications", [])
    action_channels.unmask(new.settings.notifications, old)
    _check(conn, project, new, limits)
    enabled = before["enabled"] if new.enabled is None else new.enabled
    columns, are_kept = _columns(new) | {"enabled": enabled}, _are_kept(new, before)
    if are_kept and _same(before, columns):
        return before
    try:
        action_sets.update(conn, id, **columns)
    except UniqueViolation as error:
        raise _taken(new.name) from error
    if not are_kept:
        action_sets.delete_actions(conn, id)
        _put_actions(conn, id, new, by)
    return _recorded(conn, project, before, by)


def switch(conn: Connection, project: str, id: int, enabled: bool, by: Identity) -> Row:
    """Raises NotFoundError."""
    action_sets.lock(conn)
    before = get(conn, project, id)
    if before["enabled"] == enabled:
        return before
    action_sets.set_enabled(conn, id, enabled)
    return _recorded(conn, project, before, by)


def arm(conn: Connection, project: str, id: int, by: Identity) -> Row:
    """Lets a latched set run again. Raises NotFoundError."""
    action_sets.lock(conn)
    before = get(conn, project, id)
    if before["armed"]:
        return before
    action_sets.set_armed(conn, [id], True)
    return _recorded(conn, project, before, by)


def delete(conn: Connection, project: str, id: int, by: Identity) -> None:
    """Its runs stay. Raises NotFoundError, ConflictError while another set restores it."""
    action_sets.lock(conn)
    before = get(conn, project, id)
    for row in action_sets.list_of_project(conn, project):
        for action in msgspec.json.decode(row["actions"]):
            wanted = str(action["executionParams"].get("actionSet", ""))
            if action["action"] == "RESTORE_ACTION_SET" and wanted == str(id) and row["id"] != id:
                raise ConflictError(f"The action set {row['name']} restores this one.")
    action_sets.delete(conn, id)
    events.record(conn, "actions-deleted", by, pre_data=to_json(before), project=project)


def to_json(row: Row) -> dict[str, Any]:
    """A set on the wire; what the compared server's map can say stands in `match.payload`, the
    rest in `match.filters`. Secrets of channels are never shown."""
    filters = [msgspec.convert(f, Filter) for f in msgspec.json.decode(row["filters"])]
    payload, rest = split_filters(filters)
    settings = msgspec.json.decode(row["settings"])
    for channel in settings.get("notifications", []):
        channel.update(masked(channel))
    return {
        "id": row["id"],
        "enabled": row["enabled"],
        "armed": row["armed"],
        "name": row["name"],
        "description": row["description"],
        "project": row["project"],
        "actorId": row["actor_id"],
        "match": {
            "source": "signal-endpoint",
            "sourceId": row["source_id"],
            "payload": payload,
            "filters": rest,
        },
        "actions": msgspec.json.decode(row["actions"]),
        "options": settings,
        "createdAt": format_iso(row["created_at"]),
        "createdByUserId": row["created_by_user_id"],
    }


def split_filters(filters: list[Filter]) -> tuple[dict[str, Any], list[Filter]]:
    """(the compared server's map of one filter a path, what it can't say)."""
    payload: dict[str, Any] = {}
    mapped, rest = _parted(filters)
    for filter in mapped:
        shown: dict[str, Any] = {"operator": filter.operator}
        if filter.values is not None:
            shown["values"] = filter.values
        if filter.value is not None:
            shown["value"] = filter.value
        shown |= {"inverted": filter.inverted, "caseInsensitive": filter.caseInsensitive}
        payload[filter.path] = shown
    return payload, rest


def _parted(filters: list[Filter]) -> tuple[list[Filter], list[Filter]]:
    """Those that the map can say, the rest."""
    mapped: dict[str, Filter] = {}
    rest: list[Filter] = []
    for filter in filters:
        if filter.any is not None or filter.operator == "EXISTS" or filter.path in mapped:
            rest.append(filter)
        else:
            mapped[filter.path] = filter
    return list(mapped.values()), rest


def _check(conn: Connection, project: str, new: Fields, limits: Limits) -> None:
    problems = Problems()
    if not 1 <= len(new.name) <= 255:
        problems.add("name", "A name has 1 to 255 characters.")
    if new.description and len(new.description) > 1000:
        problems.add("description", "A description has at most 1000 characters.")
    if not 0 < new.actor_id < 2**31 or service_accounts.find(conn, new.actor_id) is None:
        problems.add("actorId", "There is no such service account.")
    if not 0 < new.source_id < 2**31 or signal_endpoints.find(conn, new.source_id) is None:
        problems.add("match.sourceId", "There is no such signal endpoint.")
    action_filters.check(
        new.filters,
        problems,
        most=limits.filters,
        most_values=limits.values,
        paths=new.filter_paths,
    )
    _check_actions(conn, project, new.actions, problems, limits.actions)
    _check_settings(new.settings, problems, limits.policy)
    problems.raise_if_any()


def _check_actions(
    conn: Connection, project: str, actions: list[Action], problems: Problems, most: int
) -> None:
    if not actions:
        problems.add("actions", "At least one action is needed.")
    if len(actions) > most:
        problems.add("actions", f"There can't be more than {most} actions.")
        return
    for n, action in enumerate(actions):
        kind, at = KINDS.get(action.action), f"actions[{n}]"
        if kind is None:
            known = ", ".join(KINDS)
            problems.add(f"{at}.action", f"The action is one of {known}.")
            continue
        if not 1 <= action.sortOrder < 2**31:
            problems.add(f"{at}.sortOrder", "The sort order is a number from 1 on.")
        missing = False
        for parameter in kind.parameters:
            given = action.executionParams.get(parameter.name)
            if parameter.name == "project":
                if given not in (None, "", project):
                    problems.add(f"{at}.executionParams.project", "It must be this project.")
            elif given in (None, "") or isinstance(given, list | dict | bool):
                missing = True
                problems.add(
                    f"{at}.executionParams.{parameter.name}", f"{parameter.label} is needed."
                )
        if not missing:
            inner = Problems()
            kind.check(conn, project, _texts(action.executionParams), inner)
            for found in inner.details:
                problems.add(f"{at}.executionParams.{found['path']}", found["message"])


def _check_settings(settings: Settings, problems: Problems, policy: AddressPolicy) -> None:
    if not 0 <= settings.cooldownSeconds <= LONGEST_COOLDOWN:
        problems.add("options.cooldownSeconds", "The cooldown is from 0 to 604800 seconds.")
    if settings.maxRunsPerHour is not None and not 1 <= settings.maxRunsPerHour <= 10_000:
        problems.add("options.maxRunsPerHour", "Runs per hour are from 1 to 10000.")
    minutes = settings.restoreAfterMinutes
    if minutes is not None and not 1 <= minutes <= 43_200:
        problems.add("options.restoreAfterMinutes", "Minutes are from 1 to 43200.")
    resolved = settings.restoreWhenResolved
    if resolved is not None:
        for name, text in (("path", resolved.path), ("key", resolved.key)):
            if payload_paths.parse(text) is None:
                problems.add(f"options.restoreWhenResolved.{name}", f"The {name} is no path.")
        if not resolved.values or len(resolved.values) > 25:
            problems.add("options.restoreWhenResolved.values", "1 to 25 values are needed.")
    action_channels.check(settings.notifications, problems, policy)


def _columns(new: Fields) -> dict[str, Any]:
    """Filters in the order in which `to_json` shows them."""
    mapped, rest = _parted(new.filters)
    return {
        "name": new.name,
        "description": new.description,
        "actor_id": new.actor_id,
        "source_id": new.source_id,
        "filters": msgspec.json.encode([*mapped, *rest]).decode(),
        "settings": msgspec.json.encode(new.settings).decode(),
    }


def _put_actions(conn: Connection, id: int, new: Fields, by: Identity) -> None:
    ordered = sorted(new.actions, key=lambda action: action.sortOrder)
    action_sets.insert_actions(
        conn,
        id,
        sort_orders=[action.sortOrder for action in ordered],
        kinds=[action.action for action in ordered],
        params=[msgspec.json.encode(_texts(a.executionParams)).decode() for a in ordered],
        created_by_user_id=by.user_id,
    )


def _texts(params: dict[str, Any]) -> dict[str, Any]:
    """Numbers as text, as forms send them."""
    return {
        name: str(value) if isinstance(value, int | float) else value
        for name, value in params.items()
    }


def _are_kept(new: Fields, before: Row) -> bool:
    """Whether the actions are those that there are."""
    wanted = [
        (action.sortOrder, action.action, _texts(action.executionParams))
        for action in sorted(new.actions, key=lambda action: action.sortOrder)
    ]
    return wanted == [
        (action["sortOrder"], action["action"], action["executionParams"])
        for action in msgspec.json.decode(before["actions"])
    ]


def _same(before: Row, columns: dict[str, Any]) -> bool:
    """Whether nothing would change; the database spells JSON in its own way."""
    texts = ("filters", "settings")
    return all(
        msgspec.json.decode(before[name]) == msgspec.json.decode(value)
        if name in texts
        else before[name] == value
        for name, value in columns.items()
    )


def _recorded(conn: Connection, project: str, before: Row, by: Identity) -> Row:
    row = get(conn, project, before["id"])
    data, pre_data = to_json(row), to_json(before)
    events.record(conn, "actions-updated", by, data=data, pre_data=pre_data, project=project)
    return row


def check_project(conn: Connection, project: str) -> None:
    """Raises NotFoundError."""
    if not projects.exists(conn, project):
        raise NotFoundError(f"There is no project {project}.")


def _taken(name: str) -> NameExistsError:
    text = f"An action set named {name} exists already."
    return NameExistsError(text, details=[{"message": text, "path": "name"}])

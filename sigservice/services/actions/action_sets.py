"""Action sets: rules, limits and events of their trigger, service account and actions."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec

from sigservice.clock import format_iso
from sigservice.db import Connection, Row
from sigservice.db.errors import UniqueViolation
from sigservice.errors import ConflictError, NameExistsError, NotFoundError, require_found
from sigservice.repository.access import service_accounts
from sigservice.repository.actions import action_runs, action_sets
from sigservice.repository.projects import projects
from sigservice.repository.signals import signal_endpoints
from sigservice.services.actions import action_filters, schedules
from sigservice.services.actions.action_filters import Filter
from sigservice.services.actions.action_kinds.table import KINDS
from sigservice.services.actions.action_set_options import ActionSetOptions, check_options
from sigservice.services.actions.schedules import Schedule
from sigservice.services.identity import Identity
from sigservice.services.problems import Problems, build_limit_error
from sigservice.services.system import events
from sigservice.wording import plural


class Action(msgspec.Struct):
    action: str
    sortOrder: int
    executionParams: dict[str, Any] = {}


@dataclass(frozen=True)
class ActionSetFields:
    name: str
    description: str | None
    enabled: bool | None
    actor_id: int
    endpoint_id: int
    filters: list[Filter]
    actions: list[Action]
    settings: ActionSetOptions
    filter_paths: list[str] | None = None
    """The path of each filter in the request body."""
    schedule: Schedule | None = None
    """Instead of an endpoint, whose ID is NO_ENDPOINT then."""


@dataclass(frozen=True)
class ActionSetLimits:
    """SERVICE_ACTION_*_LIMIT."""

    sets: int
    filters: int
    values: int
    actions: int


def read_limits(config: dict[str, Any]) -> ActionSetLimits:
    actions = config["actions"]
    return ActionSetLimits(
        actions["setsPerProjectLimit"],
        actions["filtersLimit"],
        actions["filterValuesLimit"],
        actions["actionsLimit"],
    )


def create(
    conn: Connection,
    project: str,
    new: ActionSetFields,
    by: Identity,
    limits: ActionSetLimits,
    now: datetime,
) -> Row:
    """Raises NotFoundError (project), BadDataError with all problems, NameExistsError,
    ExceedsLimitError."""
    action_sets.lock(conn)
    check_project(conn, project)
    _check(conn, project, new, limits, now)
    if action_sets.count(conn, project) >= limits.sets:
        raise build_limit_error(limits.sets, "action set", "actionSetsPerProject", " in a project")
    try:
        id = action_sets.insert(
            conn,
            project=project,
            **_columns(new),
            enabled=new.enabled is not False,
            created_by_user_id=by.user_id,
        )
    except UniqueViolation as error:
        raise _make_name_error(new.name) from error
    _insert_actions(conn, id, new, by)
    if new.schedule is not None:
        _plan(conn, id, new.schedule, now)
    row = get(conn, project, id)
    events.record(conn, "actions-created", by, data=to_json(row), project=project)
    return row


def get(conn: Connection, project: str, id: int) -> Row:
    """Raises NotFoundError."""
    return require_found(
        action_sets.find(conn, project, id) if id < 2**31 else None, "Action set not found."
    )


def list_of_project(conn: Connection, project: str) -> list[Row]:
    """Raises NotFoundError."""
    check_project(conn, project)
    return action_sets.list_of_project(conn, project)


def update(
    conn: Connection,
    project: str,
    id: int,
    new: ActionSetFields,
    by: Identity,
    limits: ActionSetLimits,
    now: datetime,
) -> Row:
    """Replaces everything; `enabled` only if it isn't None. Raises like `create`."""
    action_sets.lock(conn)
    before = get(conn, project, id)
    enabled = before["enabled"] if new.enabled is None else new.enabled
    is_enabling = enabled and not before["enabled"]
    is_planned = schedules.read_schedule(before) == new.schedule and not is_enabling
    _check(conn, project, new, limits, None if is_planned else now)
    actions = msgspec.json.decode(before["actions"], type=list[Action])
    columns, has_same_actions = _columns(new) | {"enabled": enabled}, _list_actions(new) == actions
    if has_same_actions and _is_unchanged(before, columns):
        return before
    try:
        action_sets.update(conn, id, **columns)
    except UniqueViolation as error:
        raise _make_name_error(new.name) from error
    if not has_same_actions:
        action_sets.delete_actions(conn, id)
        _insert_actions(conn, id, new, by)
    if new.schedule is not None and not is_planned:
        _plan(conn, id, new.schedule, now)
    return _record_update(conn, project, before, by)


def switch(
    conn: Connection, project: str, id: int, enabled: bool, by: Identity, now: datetime
) -> Row:
    """Raises NotFoundError, ConflictError if the time of its schedule has passed."""
    action_sets.lock(conn)
    before = get(conn, project, id)
    if before["enabled"] == enabled:
        return before
    action_sets.set_enabled(conn, id, enabled)
    if enabled and (schedule := schedules.read_schedule(before)) is not None:
        _plan(conn, id, schedule, now)
    return _record_update(conn, project, before, by)


def run_now(conn: Connection, project: str, id: int, by: Identity, now: datetime) -> Row:
    """Makes the only time of a schedule `now`. Raises NotFoundError, ConflictError."""
    action_runs.lock(conn)  # a job that runs it at the moment ends first
    action_sets.lock(conn)
    before = get(conn, project, id)
    schedule = schedules.read_schedule(before)
    if schedule is None or schedule.at is None or schedules.is_done(before):
        raise ConflictError("Nothing is scheduled for one time.")
    if not before["enabled"]:
        raise ConflictError("The action set is disabled.")
    action_sets.set_due_times(conn, [id], [now])
    return _record_update(conn, project, before, by)


def reenable(conn: Connection, project: str, id: int, by: Identity) -> Row:
    """Lets a set that runs once run again. Raises NotFoundError."""
    action_sets.lock(conn)
    before = get(conn, project, id)
    if not before["has_run_once"]:
        return before
    action_sets.set_has_run_once(conn, [id], False)
    return _record_update(conn, project, before, by)


def delete(conn: Connection, project: str, id: int, by: Identity) -> None:
    """Keeps its runs. Raises NotFoundError."""
    action_sets.lock(conn)
    before = get(conn, project, id)
    action_sets.delete(conn, id)
    events.record(conn, "actions-deleted", by, pre_data=to_json(before), project=project)


def to_json(row: Row) -> dict[str, Any]:
    """The JSON of a set. `match.payload` has the filters that Unleash's map can
    express, `match.filters` the others."""
    filters = [msgspec.convert(f, Filter) for f in msgspec.json.decode(row["filters"])]
    payload, rest = action_filters.split_filters(filters)
    settings = msgspec.json.decode(row["settings"])
    schedule = schedules.read_schedule(row)
    match = {
        "source": "signal-endpoint",
        "sourceId": row["endpoint_id"],
        "payload": payload,
        "filters": rest,
    }
    return {
        "id": row["id"],
        "enabled": row["enabled"],
        "armed": not row["has_run_once"],
        "name": row["name"],
        "description": row["description"],
        "project": row["project"],
        "actorId": row["actor_id"],
        "match": msgspec.to_builtins(schedule) if schedule else match,
        **(schedules.describe_state(row) if schedule else {}),
        "actions": msgspec.json.decode(row["actions"]),
        "options": settings,
        "createdAt": format_iso(row["created_at"]),
        "createdByUserId": row["created_by_user_id"],
    }


def _check(
    conn: Connection,
    project: str,
    new: ActionSetFields,
    limits: ActionSetLimits,
    after: datetime | None,
) -> None:
    """`after` is when a new schedule begins."""
    problems = Problems()
    if not 1 <= len(new.name) <= 255:
        problems.add("name", "The name must have 1 to 255 characters.")
    if new.description and len(new.description) > 1000:
        problems.add("description", "The description must have at most 1000 characters.")
    if not 0 < new.actor_id < 2**31 or service_accounts.find(conn, new.actor_id) is None:
        problems.add("actorId", "Service account not found.")
    if new.schedule is not None:
        schedules.check_schedule(new.schedule, problems, after=after)
    elif not 0 < new.endpoint_id < 2**31 or signal_endpoints.find(conn, new.endpoint_id) is None:
        problems.add("match.sourceId", "Signal endpoint not found.")
    action_filters.check_filters(
        new.filters,
        problems,
        max_filters=limits.filters,
        max_values=limits.values,
        paths=new.filter_paths,
    )
    _check_actions(conn, project, new.actions, problems, limits.actions)
    is_scheduled = new.schedule is not None
    check_options(new.settings, problems, is_scheduled=is_scheduled)
    problems.raise_if_any()


def _check_actions(
    conn: Connection, project: str, actions: list[Action], problems: Problems, max_actions: int
) -> None:
    if not actions:
        problems.add("actions", "At least one action is required.")
    if len(actions) > max_actions:
        problems.add("actions", f"The maximum is {plural(max_actions, 'action')}.")
        return
    for index, action in enumerate(actions):
        kind, path = KINDS.get(action.action), f"actions[{index}]"
        if kind is None:
            problems.add(f"{path}.action", f"The action must be one of {', '.join(KINDS)}.")
            continue
        if not 1 <= action.sortOrder < 2**31:
            problems.add(f"{path}.sortOrder", "The sort order must be at least 1.")
        is_complete = True
        for parameter in kind.parameters:
            value = action.executionParams.get(parameter.name)
            if parameter.name == "project":
                if value not in (None, "", project):
                    problems.add(
                        f"{path}.executionParams.project", "The project must be this project."
                    )
            elif value in (None, "") or isinstance(value, list | dict | bool):
                is_complete = False
                problems.add(
                    f"{path}.executionParams.{parameter.name}", f"{parameter.label} is required."
                )
        if is_complete:
            inner = Problems()
            kind.check(conn, project, _to_texts(action.executionParams), inner)
            for problem in inner.details:
                problems.add(f"{path}.executionParams.{problem['path']}", problem["message"])


def _columns(new: ActionSetFields) -> dict[str, Any]:
    """The columns, with the filters in the order of `to_json`."""
    mapped, rest = action_filters.partition(new.filters)
    return {
        "name": new.name,
        "description": new.description,
        "actor_id": new.actor_id,
        "endpoint_id": new.endpoint_id,
        "schedule": msgspec.json.encode(new.schedule).decode() if new.schedule else None,
        "filters": msgspec.json.encode([*mapped, *rest]).decode(),
        "settings": msgspec.json.encode(new.settings).decode(),
    }


def _plan(conn: Connection, id: int, schedule: Schedule, now: datetime) -> None:
    """Stores when the set runs next. Raises ConflictError if its time has passed."""
    due_at = schedules.find_due_time(schedule, now)
    if due_at is None:
        raise ConflictError("The time of this schedule has passed. Choose another time.")
    action_sets.set_due_times(conn, [id], [due_at])


def _insert_actions(conn: Connection, id: int, new: ActionSetFields, by: Identity) -> None:
    actions = msgspec.json.encode(_list_actions(new)).decode()
    action_sets.insert_actions(conn, id, actions, created_by_user_id=by.user_id)


def _to_texts(params: dict[str, Any]) -> dict[str, Any]:
    """Converts numbers to text, as forms send them."""
    return {
        name: str(value) if isinstance(value, int | float) else value
        for name, value in params.items()
    }


def _list_actions(new: ActionSetFields) -> list[Action]:
    """The actions in the form and order in which they are stored."""
    actions = [
        msgspec.structs.replace(action, executionParams=_to_texts(action.executionParams))
        for action in new.actions
    ]
    return sorted(actions, key=lambda action: action.sortOrder)


def _is_unchanged(before: Row, columns: dict[str, Any]) -> bool:
    """Whether an update would change nothing; PostgreSQL formats JSON differently."""
    json_columns = ("filters", "settings", "schedule")
    return all(
        msgspec.json.decode(before[name] or "null") == msgspec.json.decode(value or "null")
        if name in json_columns
        else before[name] == value
        for name, value in columns.items()
    )


def _record_update(conn: Connection, project: str, before: Row, by: Identity) -> Row:
    row = get(conn, project, before["id"])
    data, pre_data = to_json(row), to_json(before)
    events.record(conn, "actions-updated", by, data=data, pre_data=pre_data, project=project)
    return row


def check_project(conn: Connection, project: str) -> None:
    """Raises NotFoundError."""
    if not projects.exists(conn, project):
        raise NotFoundError(f"There is no project {project}.")


def _make_name_error(name: str) -> NameExistsError:
    return NameExistsError(f"An action set named {name} already exists.", path="name")

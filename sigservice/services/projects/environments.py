"""Environments: rules, limits, events, and the environments that the configuration enables.

The pages hide flags in a disabled environment; SDKs still receive them.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from sigservice.db import Connection, Row
from sigservice.errors import ConflictError, NotFoundError, OperationDeniedError
from sigservice.log import Logger
from sigservice.repository.projects import environments, project_environments
from sigservice.services import revisions
from sigservice.services.definitions import MAX_SORT_ORDER, DefinitionKind, check_sort_order
from sigservice.services.identity import DEFAULT_ENVIRONMENT, SYSTEM, Identity
from sigservice.services.problems import Problems, build_limit_error
from sigservice.services.system import events

TYPES = ("development", "test", "preproduction", "production")  # in this order, the last one first
MAX_ENVIRONMENTS = 50


class Environment(msgspec.Struct, rename="camel"):
    name: str
    type: str = "production"
    sort_order: int = 9999
    enabled: bool = True
    protected: bool = False


class NewEnvironment(msgspec.Struct, rename="camel"):
    """By default it is placed after the environments of its type and of later stages."""

    name: str
    type: str
    sort_order: int | None = None
    enabled: bool = True


class EnvironmentChanges(msgspec.Struct, rename="camel"):
    """Absent members keep their values."""

    type: str | None = None
    sort_order: int | None = None


class EnvironmentState(msgspec.Struct):
    enabled: bool


def check(item: Environment, problems: Problems, path: str = "") -> Environment:
    """Its name is checked elsewhere. Imported environments keep other types."""
    problems.check_text(item.type, f"{path}type", min_length=1, max_length=100)
    check_sort_order(item.sort_order, problems, path)
    return item


KIND = DefinitionKind(
    "Environment",
    "environment",
    Environment,
    environments,
    check,
    event_scope="environment",
)
get, build_event_data = KIND.get, KIND.build_event_data


def create(conn: Connection, new: NewEnvironment, by: Identity) -> Row:
    """Creates an environment, which no project uses yet. Raises BadDataError, NameExistsError,
    ExceedsLimitError."""
    problems = Problems()
    KIND.check_key(new.name, problems)
    problems.check_choice(new.type, "type", TYPES).raise_if_any()
    revisions.lock(conn)
    rows = environments.list_all(conn)
    if len(rows) >= MAX_ENVIRONMENTS:
        raise build_limit_error(MAX_ENVIRONMENTS, "environment", "environments")
    order = new.sort_order
    if order is None:
        order, others = _find_place(rows, new.type)
        set_sort_orders(conn, others, by)
    return KIND.create(conn, Environment(new.name, new.type, order, new.enabled), by)


def _find_place(rows: Sequence[Row], type: str) -> tuple[int, dict[str, int]]:
    """The sort order of a new environment, and new sort orders of the environments after it."""
    stages = {type: stage for stage, type in enumerate(TYPES)}
    place = 0
    for index, row in enumerate(rows, 1):
        is_built_in = row["name"] == DEFAULT_ENVIRONMENT  # few installations use it
        if not is_built_in and stages.get(row["type"], -1) >= stages[type]:
            place = index
    order = last = min(rows[place - 1]["sort_order"] + 1, MAX_SORT_ORDER) if place else 1
    others = {}
    for row in rows[place:]:
        if row["sort_order"] > last:
            break
        others[row["name"]] = last = min(last + 1, MAX_SORT_ORDER)
    return order, others


def update(
    conn: Connection, name: str, changes: EnvironmentChanges | EnvironmentState, by: Identity
) -> Row:
    """Raises NotFoundError, BadDataError."""
    if isinstance(changes, EnvironmentChanges) and changes.type is not None:
        Problems().check_choice(changes.type, "type", TYPES).raise_if_any()
    return KIND.update(conn, name, changes, by)


def set_sort_orders(conn: Connection, orders: Mapping[str, int], by: Identity) -> None:
    """Raises NotFoundError for an unknown name and then changes nothing."""
    revisions.lock(conn)
    before = {row["name"]: row for row in environments.list_all(conn)}
    for name in orders:
        if name not in before:
            raise NotFoundError(f"Environment {name} not found.")
    environments.update_sort_orders(conn, orders)
    changed = [
        row for name, row in before.items() if orders.get(name) not in (None, row["sort_order"])
    ]
    events.record_many(
        conn,
        "environment-updated",
        by,
        [
            {
                "environment": row["name"],
                "data": build_event_data(row) | {"sortOrder": orders[row["name"]]},
                "pre_data": build_event_data(row),
            }
            for row in changed
        ],
    )


def move(conn: Connection, name: str, step: int, by: Identity) -> None:
    """Moves it one position up (-1) or down (1) if possible. Raises NotFoundError."""
    revisions.lock(conn)
    names = [row["name"] for row in environments.list_all(conn)]
    if name not in names:
        raise NotFoundError(f"Environment {name} not found.")
    index = names.index(name)
    other = min(max(index + step, 0), len(names) - 1)
    names[index], names[other] = names[other], names[index]
    set_sort_orders(conn, {name: order for order, name in enumerate(names, 1)}, by)


def delete(conn: Connection, name: str, by: Identity) -> None:
    """Deletes the states and strategies of flags in it too.

    Raises NotFoundError, OperationDeniedError, ConflictError while API tokens use it.
    """
    revisions.lock(conn)
    before = get(conn, name)
    if name == DEFAULT_ENVIRONMENT or before["protected"]:
        raise OperationDeniedError(f"The environment {name} can't be deleted.")
    if count := before["api_token_count"]:
        raise ConflictError(f"API tokens use the environment {name}: {count}. Delete them first.")
    environments.delete(conn, name)
    KIND.record_deletion(conn, before, by)
    revisions.bump(conn, name, flags=None)


def apply_enabled_environments(conn: Connection, names: Sequence[str], logger: Logger) -> None:
    """Applies ENABLED_ENVIRONMENTS: enables these, disables all others, and adds newly enabled ones
    to every project. Changes nothing if none of them exists; never deletes anything."""
    revisions.lock(conn)
    existing = {row["name"] for row in environments.list_all(conn)}
    for name in names:
        if name not in existing:
            logger.warn("ENABLED_ENVIRONMENTS: environment %s not found", name)
    enabled = [name for name in names if name in existing]
    if not enabled:
        return
    changed = environments.enable_only(conn, enabled)
    links = project_environments.link_all_projects(
        conn, [row["name"] for row in changed if row["enabled"]]
    )
    events.record_many(
        conn,
        "environment-updated",
        SYSTEM,
        [
            {
                "environment": row["name"],
                "data": {"name": row["name"], "enabled": row["enabled"]},
                "pre_data": {"name": row["name"], "enabled": not row["enabled"]},
            }
            for row in changed
        ],
    )
    events.record_many(conn, "project-environment-added", SYSTEM, links)
    if links:
        revisions.bump(conn, *sorted({link["environment"] for link in links}), flags=None)


def to_json(row: Row) -> dict[str, Any]:
    return build_event_data(row) | {
        "requiredApprovals": None,
        "projectCount": row["project_count"],
        "apiTokenCount": row["api_token_count"],
        "enabledToggleCount": row["enabled_toggle_count"],
    }


def project_environment_to_json(row: Row) -> dict[str, Any]:
    """An environment with its use by a project."""
    strategy = row["default_strategy"]
    return (
        build_event_data(row)
        | {
            "requiredApprovals": None,
            "visible": row["visible"],
            "projectApiTokenCount": row["api_token_count"],
            "projectEnabledToggleCount": row["enabled_toggle_count"],
        }
        | ({"defaultStrategy": msgspec.Raw(strategy.encode())} if strategy else {})
    )

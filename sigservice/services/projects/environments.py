"""Environments: rules, limits, events, and the environments that the configuration enables.

The pages hide flags in a disabled environment; SDKs still receive them.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from sigservice.db.errors import UniqueViolation
from sigservice.db.pool import Connection
from sigservice.db.statements import Row
from sigservice.errors import ConflictError, ExceedsLimitError, NotFoundError, OperationDeniedError
from sigservice.log import Logger
from sigservice.repository.projects import environments, project_environments
from sigservice.services import revisions
from sigservice.services.identity import DEFAULT_ENVIRONMENT, SYSTEM, Identity
from sigservice.services.problems import Problems, build_duplicate_error
from sigservice.services.system import events

TYPES = ("development", "test", "preproduction", "production")
MAX_ENVIRONMENTS = 50


def get(conn: Connection, name: str) -> Row:
    """Raises NotFoundError."""
    rows = environments.list_all(conn, name)
    if not rows:
        raise NotFoundError(f"Environment {name} not found.")
    return rows[0]


def check_name_available(conn: Connection, name: str) -> None:
    """Raises BadDataError for an invalid name, NameExistsError for an existing one."""
    Problems().check_name(name).raise_if_any()
    if environments.list_all(conn, name):
        raise build_duplicate_error(name)


def create(
    conn: Connection,
    *,
    name: str,
    type: str,
    sort_order: int | None = None,
    enabled: bool = True,
    by: Identity,
) -> Row:
    """No project uses it yet. Raises BadDataError, NameExistsError, ExceedsLimitError."""
    Problems().check_name(name).check_choice(type, "type", TYPES).raise_if_any()
    revisions.lock(conn)
    if environments.count(conn) >= MAX_ENVIRONMENTS:
        raise ExceedsLimitError(
            f"There can't be more than {MAX_ENVIRONMENTS} environments.",
            resource="environments",
            limit=MAX_ENVIRONMENTS,
        )
    try:
        environments.insert(conn, name=name, type=type, sort_order=sort_order, enabled=enabled)
    except UniqueViolation as error:
        raise build_duplicate_error(name) from error
    row = get(conn, name)
    events.record(conn, "environment-created", by, data=_build_event_data(row), environment=name)
    return row


def update(
    conn: Connection,
    name: str,
    by: Identity,
    *,
    type: str | None = None,
    sort_order: int | None = None,
    enabled: bool | None = None,
) -> Row:
    """Changes only the given attributes. Raises NotFoundError, BadDataError."""
    if type is not None:
        Problems().check_choice(type, "type", TYPES).raise_if_any()
    revisions.lock(conn)
    before = get(conn, name)
    environments.update(
        conn,
        name,
        type=before["type"] if type is None else type,
        sort_order=before["sort_order"] if sort_order is None else sort_order,
        enabled=before["enabled"] if enabled is None else enabled,
    )
    row = get(conn, name)
    data, pre_data = _build_event_data(row), _build_event_data(before)
    if data != pre_data:
        events.record(
            conn, "environment-updated", by, data=data, pre_data=pre_data, environment=name
        )
    return row


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
                "data": _build_event_data(row) | {"sortOrder": orders[row["name"]]},
                "pre_data": _build_event_data(row),
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
    events.record(
        conn, "environment-deleted", by, pre_data=_build_event_data(before), environment=name
    )
    revisions.bump(conn, name)


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
        revisions.bump(conn, *sorted({link["environment"] for link in links}))


def to_json(row: Row) -> dict[str, Any]:
    return _build_event_data(row) | {
        "requiredApprovals": None,
        "projectCount": row["project_count"],
        "apiTokenCount": row["api_token_count"],
        "enabledToggleCount": row["enabled_toggle_count"],
    }


def project_environment_to_json(row: Row) -> dict[str, Any]:
    """An environment with its use by a project."""
    strategy = row["default_strategy"]
    return (
        _build_event_data(row)
        | {
            "requiredApprovals": None,
            "visible": row["visible"],
            "projectApiTokenCount": row["api_token_count"],
            "projectEnabledToggleCount": row["enabled_toggle_count"],
        }
        | ({"defaultStrategy": msgspec.Raw(strategy.encode())} if strategy else {})
    )


def _build_event_data(row: Row) -> dict[str, Any]:
    return {
        "name": row["name"],
        "type": row["type"],
        "sortOrder": row["sort_order"],
        "enabled": row["enabled"],
        "protected": row["protected"],
    }

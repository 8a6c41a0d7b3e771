"""Strategy types: rules and events. SDKs evaluate unknown types as false."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import msgspec

from sigservice.db.errors import UniqueViolation
from sigservice.db.pool import Connection
from sigservice.db.statements import Row
from sigservice.errors import ConflictError, NotFoundError, OperationDeniedError
from sigservice.repository.projects import strategy_types
from sigservice.services import revisions
from sigservice.services.identity import Identity
from sigservice.services.problems import Problems, build_duplicate_error
from sigservice.services.system import events

PARAMETER_TYPES = ("string", "percentage", "list", "number", "boolean")
MAX_PARAMETERS = 100


@dataclass(frozen=True)
class StrategyTypeFields:
    """The checked attributes of a strategy type except its name; `parameters` is JSON."""

    title: str | None
    description: str | None
    parameters: str


def check_fields(
    title: str | None, description: str | None, parameters: Sequence[dict[str, Any]]
) -> StrategyTypeFields:
    """Raises BadDataError with each invalid field."""
    title, description = (title or "").strip() or None, (description or "").strip() or None
    problems = Problems().check_text(title, "title", max_length=200)
    problems.check_text(description, "description", max_length=1000)
    if len(parameters) > MAX_PARAMETERS:
        text = f"A strategy can't have more than {MAX_PARAMETERS} parameters."
        problems.add("parameters", text)
    names: set[str] = set()
    for n, parameter in enumerate(parameters[:MAX_PARAMETERS]):
        path = f"parameters[{n}]"
        if not 1 <= len(parameter["name"]) <= 100:
            problems.add(f"{path}.name", "A parameter's name must have 1 to 100 characters.")
        elif parameter["name"] in names:
            text = f"The parameter {parameter['name']} appears twice."
            problems.add(f"{path}.name", text)
        names.add(parameter["name"])
        if parameter["type"] not in PARAMETER_TYPES:
            text = f"A parameter's type must be one of {', '.join(PARAMETER_TYPES)}."
            problems.add(f"{path}.type", text)
    problems.raise_if_any()
    return StrategyTypeFields(title, description, msgspec.json.encode(parameters).decode())


def get(conn: Connection, name: str) -> Row:
    """Raises NotFoundError."""
    rows = strategy_types.list_all(conn, name)
    if not rows:
        raise NotFoundError(f"Strategy {name} not found.")
    return rows[0]


def create(conn: Connection, name: str, new: StrategyTypeFields, by: Identity) -> Row:
    """Raises BadDataError, NameExistsError."""
    Problems().check_name(name).raise_if_any()
    revisions.lock(conn)
    try:
        strategy_types.insert(conn, name=name, **asdict(new))
    except UniqueViolation as error:
        raise build_duplicate_error(name) from error
    row = get(conn, name)
    events.record(conn, "strategy-created", by, data=to_json(row))
    return row


def update(conn: Connection, name: str, new: StrategyTypeFields, by: Identity) -> Row:
    """Raises NotFoundError, OperationDeniedError for a built-in type."""
    revisions.lock(conn)
    before = _get_custom(conn, name, "changed")
    return _save(conn, before, new, before["deprecated"], "strategy-updated", by)


def deprecate(conn: Connection, name: str, deprecated: bool, by: Identity) -> Row:
    """A deprecated type keeps working, but new strategies can't use it.

    Raises NotFoundError, OperationDeniedError for `default`.
    """
    revisions.lock(conn)
    before = get(conn, name)
    if name == "default" and deprecated:
        raise OperationDeniedError("The strategy default can't be deprecated.")
    unchanged = StrategyTypeFields(before["title"], before["description"], before["parameters"])
    type = "strategy-deprecated" if deprecated else "strategy-reactivated"
    return _save(conn, before, unchanged, deprecated, type, by)


def delete(conn: Connection, name: str, by: Identity) -> None:
    """Raises NotFoundError, OperationDeniedError for a built-in type, ConflictError while used."""
    revisions.lock(conn)
    before = _get_custom(conn, name, "deleted")
    if flags := strategy_types.list_flags(conn, name):
        raise ConflictError(f"The strategy {name} is used by flags: {', '.join(flags)}.")
    if projects := strategy_types.list_projects(conn, name):
        raise ConflictError(
            f"The strategy {name} is the default strategy of projects: {', '.join(projects)}."
        )
    strategy_types.delete(conn, name)
    events.record(conn, "strategy-deleted", by, pre_data=to_json(before))


def to_json(row: Row) -> dict[str, Any]:
    return {
        "name": row["name"],
        "displayName": row["title"] or row["name"],
        "title": row["title"],
        "description": row["description"],
        "editable": not row["built_in"],
        "deprecated": row["deprecated"],
        "parameters": msgspec.Raw(row["parameters"].encode()),
    }


def _get_custom(conn: Connection, name: str, change: str) -> Row:
    row = get(conn, name)
    if row["built_in"]:
        raise OperationDeniedError(f"The built-in strategy {name} can't be {change}.")
    return row


def _save(
    conn: Connection, old: Row, new: StrategyTypeFields, deprecated: bool, event: str, by: Identity
) -> Row:
    name = old["name"]
    strategy_types.update(conn, name, **asdict(new), deprecated=deprecated)
    row = get(conn, name)
    if row != old:
        events.record(conn, event, by, data=to_json(row), pre_data=to_json(old))
    return row

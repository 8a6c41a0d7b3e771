"""Strategy types: rules and events. SDKs evaluate unknown types as false."""

from typing import Any

import msgspec
from msgspec.structs import replace

from sigservice.db import Connection, Row
from sigservice.errors import ConflictError, OperationDeniedError
from sigservice.repository.projects import strategy_types
from sigservice.services import revisions
from sigservice.services.definitions import DefinitionKind, check_sort_order, clean_text, merge
from sigservice.services.identity import Identity
from sigservice.services.problems import Problems

PARAMETER_TYPES = ("string", "percentage", "list", "number", "boolean")
MAX_PARAMETERS = 100


class ParameterDefinition(msgspec.Struct):
    name: str
    type: str
    description: str = ""
    required: bool = False


class StrategyTypeChanges(msgspec.Struct):
    """All members are replaced."""

    parameters: list[ParameterDefinition]
    title: str | None = None
    description: str | None = None


class NewStrategyType(StrategyTypeChanges, kw_only=True):
    name: str


class StrategyType(msgspec.Struct, rename="camel"):
    name: str
    title: str | None = None
    description: str | None = None
    parameters: list[ParameterDefinition] = []
    deprecated: bool = False
    sort_order: int = 9999


def check(item: StrategyType, problems: Problems, path: str = "") -> StrategyType:
    """The type in the form in which it is stored; its name is checked elsewhere."""
    title, description = clean_text(item.title), clean_text(item.description)
    problems.check_text(title, f"{path}title", max_length=200)
    problems.check_text(description, f"{path}description", max_length=1000)
    check_sort_order(item.sort_order, problems, path)
    if len(item.parameters) > MAX_PARAMETERS:
        text = f"A strategy can't have more than {MAX_PARAMETERS} parameters."
        problems.add(f"{path}parameters", text)
    names: set[str] = set()
    for n, parameter in enumerate(item.parameters[:MAX_PARAMETERS]):
        parameter_path = f"{path}parameters[{n}]"
        if not 1 <= len(parameter.name) <= 100:
            text = "A parameter's name must have 1 to 100 characters."
            problems.add(f"{parameter_path}.name", text)
        elif parameter.name in names:
            problems.add(f"{parameter_path}.name", f"The parameter {parameter.name} appears twice.")
        names.add(parameter.name)
        if parameter.type not in PARAMETER_TYPES:
            text = f"A parameter's type must be one of {', '.join(PARAMETER_TYPES)}."
            problems.add(f"{parameter_path}.type", text)
    return replace(item, title=title, description=description)


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


KIND = DefinitionKind("Strategy", "strategy", StrategyType, strategy_types, check, to_json)
get = KIND.get


def create(conn: Connection, new: NewStrategyType, by: Identity) -> Row:
    """Raises BadDataError, NameExistsError."""
    return KIND.create(conn, merge(StrategyType(new.name), new), by)


def update(conn: Connection, name: str, new: StrategyTypeChanges, by: Identity) -> Row:
    """Raises NotFoundError, BadDataError, OperationDeniedError for a built-in type."""
    revisions.lock(conn)
    before = _get_custom(conn, name, "changed")
    changed = replace(KIND.read_row(before), **msgspec.structs.asdict(new))
    return KIND.save(conn, before, changed, by)


def deprecate(conn: Connection, name: str, deprecated: bool, by: Identity) -> Row:
    """A deprecated type keeps working, but new strategies can't use it.

    Raises NotFoundError, OperationDeniedError for `default`.
    """
    revisions.lock(conn)
    before = get(conn, name)
    if name == "default" and deprecated:
        raise OperationDeniedError("The strategy default can't be deprecated.")
    changed = replace(KIND.read_row(before), deprecated=deprecated)
    return KIND.save(conn, before, changed, by, "deprecated" if deprecated else "reactivated")


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
    KIND.record_deletion(conn, before, by)


def _get_custom(conn: Connection, name: str, change: str) -> Row:
    row = get(conn, name)
    if row["built_in"]:
        raise OperationDeniedError(f"The built-in strategy {name} can't be {change}.")
    return row

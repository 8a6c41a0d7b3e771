"""Context fields: rules and events. Strategies keep constraints on a deleted field."""

from typing import Any

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from sigservice.clock import format_iso
from sigservice.db import Connection, Row
from sigservice.errors import OperationDeniedError
from sigservice.repository.projects import context_fields
from sigservice.services import revisions
from sigservice.services.definitions import DefinitionKind, check_sort_order, clean_text
from sigservice.services.identity import Identity
from sigservice.services.problems import Problems

MAX_LEGAL_VALUES = 1000


class LegalValue(msgspec.Struct, omit_defaults=True):
    value: str
    description: str | None = None


class ContextField(msgspec.Struct, rename="camel"):
    name: str
    description: str | None = None
    stickiness: bool = False
    sort_order: int = 10
    legal_values: list[LegalValue] = []


class ContextFieldChanges(msgspec.Struct, rename="camel"):
    """Absent and null members keep their values; a null description removes it."""

    description: str | UnsetType | None = UNSET
    stickiness: bool | None = None
    sort_order: int | None = None
    legal_values: list[LegalValue] | None = None


def check(item: ContextField, problems: Problems, path: str = "") -> ContextField:
    """The field in the form in which it is stored; its name is checked elsewhere."""
    item = replace(item, description=clean_text(item.description))
    problems.check_text(item.description, f"{path}description", max_length=1000)
    check_sort_order(item.sort_order, problems, path)
    if len(item.legal_values) > MAX_LEGAL_VALUES:
        text = f"A field can't have more than {MAX_LEGAL_VALUES} legal values."
        problems.add(f"{path}legalValues", text)
    values: set[str] = set()
    for n, legal in enumerate(item.legal_values[:MAX_LEGAL_VALUES]):
        value_path = f"{path}legalValues[{n}]."
        _check_legal_value(legal, problems, value_path)
        if legal.value in values:
            problems.add(f"{value_path}value", f"The legal value {legal.value} appears twice.")
        values.add(legal.value)
    return item


KIND = DefinitionKind(
    "Context field",
    "context-field",
    ContextField,
    context_fields,
    check,
)
build_event_data = KIND.build_event_data
get, create, update = KIND.get, KIND.create, KIND.update


def put_legal_value(conn: Connection, name: str, legal: LegalValue, by: Identity) -> Row:
    """Adds the value, or replaces its description. Raises NotFoundError, BadDataError."""
    problems = Problems()
    _check_legal_value(legal, problems)
    problems.raise_if_any()
    revisions.lock(conn)
    values = parse_legal_values(get(conn, name))
    by_value = {item.value: item for item in values} | {legal.value: legal}
    return update(conn, name, ContextFieldChanges(legal_values=list(by_value.values())), by)


def delete_legal_value(conn: Connection, name: str, value: str, by: Identity) -> Row:
    """Does nothing if the value doesn't exist. Raises NotFoundError for the field."""
    revisions.lock(conn)
    values = [legal for legal in parse_legal_values(get(conn, name)) if legal.value != value]
    return update(conn, name, ContextFieldChanges(legal_values=values), by)


def delete(conn: Connection, name: str, by: Identity) -> None:
    """Raises NotFoundError, OperationDeniedError for a built-in field."""
    revisions.lock(conn)
    before = get(conn, name)
    if before["built_in"]:
        raise OperationDeniedError(f"The built-in context field {name} can't be deleted.")
    context_fields.delete(conn, name)
    KIND.record_deletion(conn, before, by)


def parse_legal_values(row: Row) -> list[LegalValue]:
    return msgspec.json.decode(row["legal_values"], type=list[LegalValue])


def to_json(row: Row) -> dict[str, Any]:
    return build_event_data(row) | {
        "createdAt": format_iso(row["created_at"]),
        "usedInFeatures": row["feature_count"],
        "usedInProjects": row["project_count"],
    }


def _check_legal_value(legal: LegalValue, problems: Problems, path: str = "") -> None:
    problems.check_text(legal.description, f"{path}description", max_length=1000)
    problems.check_text(legal.value, f"{path}value", min_length=1, max_length=100)

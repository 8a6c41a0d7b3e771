"""Context fields: rules and events. Strategies keep constraints on a deleted field."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import msgspec

from sigservice.clock import format_iso
from sigservice.db.errors import UniqueViolation
from sigservice.db.pool import Connection
from sigservice.db.statements import Row
from sigservice.errors import NotFoundError, OperationDeniedError
from sigservice.repository.projects import context_fields
from sigservice.services import revisions
from sigservice.services.identity import Identity
from sigservice.services.problems import Problems, build_duplicate_error
from sigservice.services.system import events

MAX_LEGAL_VALUES = 1000


class LegalValue(msgspec.Struct, omit_defaults=True):
    value: str
    description: str | None = None


@dataclass(frozen=True)
class ContextFieldAttributes:
    """The checked attributes of a field except its name; `legal_values` is JSON."""

    description: str | None
    stickiness: bool
    sort_order: int
    legal_values: str


def check_fields(
    description: str | None, stickiness: bool, sort_order: int, legal_values: Sequence[LegalValue]
) -> ContextFieldAttributes:
    """Raises BadDataError with each invalid field."""
    description = (description or "").strip() or None
    problems = Problems().check_text(description, "description", max_length=1000)
    if len(legal_values) > MAX_LEGAL_VALUES:
        text = f"A field can't have more than {MAX_LEGAL_VALUES} legal values."
        problems.add("legalValues", text)
    values: set[str] = set()
    for n, legal in enumerate(legal_values[:MAX_LEGAL_VALUES]):
        _check_legal_value(legal, problems, f"legalValues[{n}].")
        if legal.value in values:
            text = f"The legal value {legal.value} appears twice."
            problems.add(f"legalValues[{n}].value", text)
        values.add(legal.value)
    problems.raise_if_any()
    return ContextFieldAttributes(
        description, stickiness, sort_order, msgspec.json.encode(legal_values).decode()
    )


def get(conn: Connection, name: str) -> Row:
    """Raises NotFoundError."""
    rows = context_fields.list_all(conn, name)
    if not rows:
        raise NotFoundError(f"Context field {name} not found.")
    return rows[0]


def check_name_available(conn: Connection, name: str) -> None:
    """Raises BadDataError for an invalid name, NameExistsError for an existing one."""
    Problems().check_name(name).raise_if_any()
    if context_fields.list_all(conn, name):
        raise build_duplicate_error(name)


def create(conn: Connection, name: str, new: ContextFieldAttributes, by: Identity) -> Row:
    """Raises BadDataError, NameExistsError."""
    Problems().check_name(name).raise_if_any()
    revisions.lock(conn)
    try:
        context_fields.insert(conn, name=name, **asdict(new))
    except UniqueViolation as error:
        raise build_duplicate_error(name) from error
    row = get(conn, name)
    events.record(conn, "context-field-created", by, data=_build_event_data(row))
    return row


def update(
    conn: Connection,
    name: str,
    by: Identity,
    *,
    description: str | msgspec.UnsetType | None = msgspec.UNSET,
    stickiness: bool | None = None,
    sort_order: int | None = None,
    legal_values: Sequence[LegalValue] | None = None,
) -> Row:
    """Changes only the given attributes. Raises NotFoundError, BadDataError."""
    revisions.lock(conn)
    before = get(conn, name)
    new = check_fields(
        before["description"] if description is msgspec.UNSET else description,
        before["stickiness"] if stickiness is None else stickiness,
        before["sort_order"] if sort_order is None else sort_order,
        parse_legal_values(before) if legal_values is None else legal_values,
    )
    context_fields.update(conn, name, **asdict(new))
    row = get(conn, name)
    if row != before:
        data, pre_data = _build_event_data(row), _build_event_data(before)
        events.record(conn, "context-field-updated", by, data=data, pre_data=pre_data)
    return row


def put_legal_value(conn: Connection, name: str, legal: LegalValue, by: Identity) -> Row:
    """Adds the value, or replaces its description. Raises NotFoundError, BadDataError."""
    problems = Problems()
    _check_legal_value(legal, problems)
    problems.raise_if_any()
    revisions.lock(conn)
    values = parse_legal_values(get(conn, name))
    by_value = {item.value: item for item in values} | {legal.value: legal}
    return update(conn, name, by, legal_values=list(by_value.values()))


def delete_legal_value(conn: Connection, name: str, value: str, by: Identity) -> Row:
    """Does nothing if the value doesn't exist. Raises NotFoundError for the field."""
    revisions.lock(conn)
    values = [legal for legal in parse_legal_values(get(conn, name)) if legal.value != value]
    return update(conn, name, by, legal_values=values)


def delete(conn: Connection, name: str, by: Identity) -> None:
    """Raises NotFoundError, OperationDeniedError for a built-in field."""
    revisions.lock(conn)
    before = get(conn, name)
    if before["built_in"]:
        raise OperationDeniedError(f"The built-in context field {name} can't be deleted.")
    context_fields.delete(conn, name)
    events.record(conn, "context-field-deleted", by, pre_data=_build_event_data(before))


def parse_legal_values(row: Row) -> list[LegalValue]:
    return msgspec.json.decode(row["legal_values"], type=list[LegalValue])


def to_json(row: Row) -> dict[str, Any]:
    return _build_event_data(row) | {
        "createdAt": format_iso(row["created_at"]),
        "usedInFeatures": row["feature_count"],
        "usedInProjects": row["project_count"],
    }


def _build_event_data(row: Row) -> dict[str, Any]:
    return {
        "name": row["name"],
        "description": row["description"],
        "stickiness": row["stickiness"],
        "sortOrder": row["sort_order"],
        "legalValues": msgspec.Raw(row["legal_values"].encode()),
    }


def _check_legal_value(legal: LegalValue, problems: Problems, path: str = "") -> None:
    problems.check_text(legal.description, f"{path}description", max_length=1000)
    problems.check_text(legal.value, f"{path}value", min_length=1, max_length=100)

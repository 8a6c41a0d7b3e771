"""Tag types: rules and events."""

import re
from dataclasses import asdict, dataclass

from msgspec import UNSET, UnsetType

from sigservice.db.errors import UniqueViolation
from sigservice.db.pool import Connection
from sigservice.db.statements import Row
from sigservice.errors import NotFoundError, OperationDeniedError
from sigservice.repository.projects import tag_types
from sigservice.services import revisions
from sigservice.services.identity import Identity
from sigservice.services.problems import Problems, build_duplicate_error
from sigservice.services.system import events

DEFAULT = "simple"
_COLOR = re.compile(r"#[0-9A-Fa-f]{6}")


@dataclass(frozen=True)
class TagTypeFields:
    """The checked attributes of a tag type except its name."""

    description: str | None
    icon: str | None
    color: str | None


def check_fields(description: str | None, icon: str | None, color: str | None) -> TagTypeFields:
    """Raises BadDataError with each invalid field."""
    description, icon, color = (description or "").strip() or None, icon or None, color or None
    problems = Problems().check_text(description, "description", max_length=1000)
    problems.check_text(icon, "icon", max_length=100)
    if color and not _COLOR.fullmatch(color):
        problems.add("color", "Must be a color such as #1f5fbf.")
    problems.raise_if_any()
    return TagTypeFields(description, icon, color)


def get(conn: Connection, name: str) -> Row:
    """Returns the type in the form of the API. Raises NotFoundError."""
    rows = tag_types.list_all(conn, name)
    if not rows:
        raise NotFoundError(f"Tag type {name} not found.")
    return rows[0]


def check_name_available(conn: Connection, name: str) -> None:
    """Raises BadDataError for an invalid name, NameExistsError for an existing one."""
    Problems().check_name(name, min_length=2, max_length=50).raise_if_any()
    if tag_types.list_all(conn, name):
        raise build_duplicate_error(name)


def create(conn: Connection, name: str, new: TagTypeFields, by: Identity) -> Row:
    """Raises BadDataError, NameExistsError."""
    Problems().check_name(name, min_length=2, max_length=50).raise_if_any()
    revisions.lock(conn)
    try:
        tag_types.insert(conn, name=name, **asdict(new))
    except UniqueViolation as error:
        raise build_duplicate_error(name) from error
    row = get(conn, name)
    events.record(conn, "tag-type-created", by, data=row)
    return row


def update(
    conn: Connection,
    name: str,
    by: Identity,
    *,
    description: str | UnsetType | None = UNSET,
    icon: str | UnsetType | None = UNSET,
    color: str | UnsetType | None = UNSET,
) -> Row:
    """Changes only the given attributes. Raises NotFoundError, BadDataError."""
    revisions.lock(conn)
    before = get(conn, name)
    new = check_fields(
        before["description"] if description is UNSET else description,
        before["icon"] if icon is UNSET else icon,
        before["color"] if color is UNSET else color,
    )
    tag_types.update(conn, name, **asdict(new))
    row = get(conn, name)
    if row != before:
        events.record(conn, "tag-type-updated", by, data=row, pre_data=before)
    return row


def delete(conn: Connection, name: str, by: Identity) -> None:
    """Deletes its tags too, also from flags. Raises NotFoundError, OperationDeniedError."""
    revisions.lock(conn)
    before = get(conn, name)
    if name == DEFAULT:
        raise OperationDeniedError(f"The tag type {DEFAULT} can't be deleted.")
    tag_types.delete(conn, name)
    events.record(conn, "tag-type-deleted", by, pre_data=before)
    revisions.bump(conn)

"""Tag types: rules and audit."""

from __future__ import annotations

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

BUILT_IN = "simple"
_COLOR = re.compile(r"#[0-9A-Fa-f]{6}")


@dataclass(frozen=True)
class Fields:
    """A tag type's checked data but the name."""

    description: str | None
    icon: str | None
    color: str | None


def fields(description: str | None, icon: str | None, color: str | None) -> Fields:
    """Raises BadDataError naming each field that is wrong."""
    description, icon, color = (description or "").strip() or None, icon or None, color or None
    problems = Problems().check_text(description, "description", max_length=1000)
    problems.check_text(icon, "icon", max_length=100)
    if color and not _COLOR.fullmatch(color):
        problems.add("color", "A color looks like #1f5fbf.")
    problems.raise_if_any()
    return Fields(description, icon, color)


def get(conn: Connection, name: str) -> Row:
    """Raises NotFoundError. The row is the type as it is on the wire."""
    rows = tag_types.list_all(conn, name)
    if not rows:
        raise NotFoundError(f"There is no tag type {name}.")
    return rows[0]


def check_free(conn: Connection, name: str) -> None:
    """Raises BadDataError for a name that can't be, NameExistsError for one that is taken."""
    Problems().check_name(name, min_length=2, max_length=50).raise_if_any()
    if tag_types.list_all(conn, name):
        raise build_duplicate_error(name)


def create(conn: Connection, name: str, new: Fields, by: Identity) -> Row:
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
    """What is absent stays. Raises NotFoundError, BadDataError."""
    revisions.lock(conn)
    before = get(conn, name)
    new = fields(
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
    """Its tags go with it, from flags too. Raises NotFoundError, OperationDeniedError."""
    revisions.lock(conn)
    before = get(conn, name)
    if name == BUILT_IN:
        raise OperationDeniedError(f"The tag type {BUILT_IN} can't be deleted.")
    tag_types.delete(conn, name)
    events.record(conn, "tag-type-deleted", by, pre_data=before)
    revisions.bump(conn)

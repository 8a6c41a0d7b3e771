"""Segments: who is meant, said once and used by many strategies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

from sigservice.clock import format_iso
from sigservice.db.errors import UniqueViolation
from sigservice.db.pool import Connection
from sigservice.db.statements import Row
from sigservice.errors import (
    BadDataError,
    ConflictError,
    ExceedsLimitError,
    NameExistsError,
    NotFoundError,
)
from sigservice.repository.flags import segments
from sigservice.repository.projects import projects
from sigservice.services import revisions
from sigservice.services.flags import constraints
from sigservice.services.identity import Identity
from sigservice.services.problems import Problems
from sigservice.services.system import events

MOST_SEGMENTS = 300


@dataclass(frozen=True)
class SegmentFields:
    name: str
    description: str | None
    project: str | None
    constraints: list[constraints.Constraint]


def create(conn: Connection, new: SegmentFields, by: Identity, *, most_values: int) -> Row:
    """Raises BadDataError, NameExistsError, ExceedsLimitError."""
    revisions.lock(conn)
    columns = _checked(conn, new, most_values)
    if segments.count(conn) >= MOST_SEGMENTS:
        raise ExceedsLimitError(
            f"There can't be more than {MOST_SEGMENTS} segments.",
            resource="segments",
            limit=MOST_SEGMENTS,
        )
    try:
        row = segments.insert(
            conn, **columns, created_by=by.username, created_by_user_id=by.user_id
        )
    except UniqueViolation as error:
        raise _taken(columns["name"]) from error
    events.record(conn, "segment-created", by, data=to_json(row), project=row["project"])
    return row


def get(conn: Connection, id: int) -> Row:
    """Raises NotFoundError."""
    row = segments.find(conn, id) if id < 2**31 else None
    if row is None:
        raise NotFoundError(f"There is no segment {id}.")
    return row


def update(conn: Connection, id: int, new: SegmentFields, by: Identity, *, most_values: int) -> Row:
    """Raises NotFoundError, BadDataError, NameExistsError."""
    revisions.lock(conn)
    before = get(conn, id)
    columns = _checked(conn, new, most_values)
    _check_project_fits(conn, id, columns["project"])
    try:
        row = segments.update(conn, id, **columns)
    except UniqueViolation as error:
        raise _taken(columns["name"]) from error
    events.record(
        conn,
        "segment-updated",
        by,
        data=to_json(row),
        pre_data=to_json(before),
        project=row["project"],
    )
    revisions.bump(conn)
    return row


def delete(conn: Connection, id: int, by: Identity) -> None:
    """Raises NotFoundError; ConflictError that names the strategies which use it."""
    revisions.lock(conn)
    before = get(conn, id)
    users = segments.list_users(conn, id)
    if users:
        names = sorted({row["feature"] for row in users})
        raise ConflictError(
            f"The segment {before['name']} is used by {', '.join(names[:10])}.",
            details=[
                {"message": f"Used by {row['feature']} in {row['environment']}.", "path": row["id"]}
                for row in users
            ],
        )
    segments.delete(conn, id)
    events.record(conn, "segment-deleted", by, pre_data=to_json(before), project=before["project"])


def check_name_available(conn: Connection, name: str) -> None:
    """Raises BadDataError for a name that is none, NameExistsError."""
    problems = Problems()
    problems.check_text(name.strip(), "name", min_length=1, max_length=200)
    problems.raise_if_any()
    if segments.find_by_name(conn, name.strip()):
        raise _taken(name.strip())


def to_json(row: Row) -> dict[str, Any]:
    """A segment on the wire."""
    return {
        "id": row["id"],
        "name": row["name"],
        "description": row["description"],
        "project": row["project"],
        "constraints": msgspec.json.decode(row["constraints"]),
        "createdBy": row["created_by"],
        "createdAt": format_iso(row["created_at"]),
    }


def _checked(conn: Connection, new: SegmentFields, most_values: int) -> dict[str, Any]:
    """The columns. Raises BadDataError with all that is wrong."""
    problems = Problems()
    name = new.name.strip()
    problems.check_text(name, "name", min_length=1, max_length=200)
    description = (new.description or "").strip() or None
    problems.check_text(description, "description", max_length=1000)
    if new.project and not projects.exists(conn, new.project):
        problems.add("project", f"There is no project {new.project}.")
    stored = constraints.check(new.constraints, problems, most_values=most_values)
    if sum(len(constraint["values"]) for constraint in stored) > most_values:
        problems.add("constraints", f"A segment can't have more than {most_values} values.")
    problems.raise_if_any()
    return {
        "name": name,
        "description": description,
        "project": new.project or None,
        "constraints": msgspec.json.encode(stored).decode(),
    }


def _check_project_fits(conn: Connection, id: int, project: str | None) -> None:
    """A segment of one project can't serve the flags of another."""
    if project is None:
        return
    others = {row["project"] for row in segments.list_users(conn, id)} - {project}
    if others:
        raise BadDataError(f"The segment is used in {', '.join(sorted(others))}.", path="project")


def _taken(name: str) -> NameExistsError:
    return NameExistsError(f"A segment named {name} exists already.", path="name")

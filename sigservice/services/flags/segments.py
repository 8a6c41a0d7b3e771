"""Segments: sets of constraints that many strategies share."""

from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from sigservice.clock import format_iso
from sigservice.db import Connection, Row
from sigservice.db.errors import UniqueViolation
from sigservice.errors import BadDataError, ConflictError, NameExistsError, require_found
from sigservice.repository.flags import segments
from sigservice.repository.projects import projects
from sigservice.services import revisions
from sigservice.services.definitions import clean_text
from sigservice.services.flags import constraints
from sigservice.services.identity import Identity
from sigservice.services.problems import Problems, build_limit_error
from sigservice.services.system import events
from sigservice.wording import plural

MAX_SEGMENTS = 300
Fields = TypeVar("Fields", bound="Segment")


class Segment(msgspec.Struct):
    name: str
    constraints: list[constraints.Constraint]
    description: str | None = None
    project: str | None = None


def create(conn: Connection, new: Segment, by: Identity, *, max_values: int) -> Row:
    """Raises BadDataError, NameExistsError, ExceedsLimitError."""
    revisions.lock(conn)
    new = _validate(conn, new, max_values)
    if segments.count(conn) >= MAX_SEGMENTS:
        raise build_limit_error(MAX_SEGMENTS, "segment", "segments")
    if segments.find_by_name(conn, new.name):
        raise _build_duplicate_error(new.name)
    segments.put(conn, [new], created_by=by.username, created_by_user_id=by.user_id)
    row = segments.find_by_name(conn, new.name)
    assert row is not None
    events.record(conn, "segment-created", by, data=to_json(row), project=row["project"])
    return row


def get(conn: Connection, id: int) -> Row:
    """Raises NotFoundError."""
    return require_found(
        segments.find(conn, id) if id < 2**31 else None, f"Segment {id} not found."
    )


def update(conn: Connection, id: int, new: Segment, by: Identity, *, max_values: int) -> Row:
    """Raises NotFoundError, BadDataError, NameExistsError."""
    revisions.lock(conn)
    before = get(conn, id)
    new = _validate(conn, new, max_values)
    check_project_fits(conn, before, new.project)
    try:
        row = segments.update(conn, id, new)
    except UniqueViolation as error:
        raise _build_duplicate_error(new.name) from error
    events.record(
        conn,
        "segment-updated",
        by,
        data=to_json(row),
        pre_data=to_json(before),
        project=row["project"],
    )
    revisions.bump(conn, flags=[], segments=[id])
    return row


def delete(conn: Connection, id: int, by: Identity) -> None:
    """Raises NotFoundError, and ConflictError with the strategies that use the segment, also as
    the default of a project."""
    revisions.lock(conn)
    before = get(conn, id)
    strategies = segments.list_strategies(conn, id)
    defaults = segments.list_default_strategies(conn, id)
    if strategies or defaults:
        names = sorted({row["feature"] for row in strategies})
        names += sorted({f"the default strategy of {row['project']}" for row in defaults})
        details = [
            {"message": f"Used by {row['feature']} in {row['environment']}.", "path": row["id"]}
            for row in strategies
        ]
        for row in defaults:
            place = f"{row['project']} in {row['environment']}"
            details.append({"message": f"Used by the default strategy of {place}."})
        raise ConflictError(
            f"Segment {before['name']} is used by {', '.join(names[:10])}.", details=details
        )
    segments.delete(conn, id)
    events.record(conn, "segment-deleted", by, pre_data=to_json(before), project=before["project"])


def check_name_available(conn: Connection, name: str) -> None:
    """Raises BadDataError for an invalid name, NameExistsError."""
    problems = Problems()
    problems.check_text(name.strip(), "name", min_length=1, max_length=200)
    problems.raise_if_any()
    if segments.find_by_name(conn, name.strip()):
        raise _build_duplicate_error(name.strip())


def to_json(row: Row) -> dict[str, Any]:
    """A segment in the format of the API."""
    return {
        "id": row["id"],
        "name": row["name"],
        "description": row["description"],
        "project": row["project"],
        "constraints": msgspec.json.decode(row["constraints"]),
        "createdBy": row["created_by"],
        "createdAt": format_iso(row["created_at"]),
    }


def _validate(conn: Connection, new: Segment, max_values: int) -> Segment:
    """The segment in the form in which it is stored. Raises BadDataError with all problems."""
    problems = Problems()
    if new.project and not projects.exists(conn, new.project):
        problems.add("project", f"Project {new.project} not found.")
    new = replace(
        new,
        name=new.name.strip(),
        description=clean_text(new.description),
        project=new.project or None,
    )
    new = check(new, problems, max_values=max_values)
    problems.raise_if_any()
    return new


def check(new: Fields, problems: Problems, path: str = "", *, max_values: int) -> Fields:
    """The segment with its constraints as they are stored; records errors in `problems`."""
    problems.check_text(new.name, f"{path}name", min_length=1, max_length=200)
    problems.check_text(new.description, f"{path}description", max_length=1000)
    items = constraints.check(
        new.constraints, problems, f"{path}constraints", max_values=max_values
    )
    if sum(len(item["values"]) for item in items) > max_values:
        text = f"A segment can't have more than {plural(max_values, 'value')}."
        problems.add(f"{path}constraints", text)
    if problems.details:
        return new
    return replace(new, constraints=msgspec.convert(items, list[constraints.Constraint]))


def check_project_fits(conn: Connection, row: Row, project: str | None) -> None:
    """Strategies of another project can't use a project's segment. Raises BadDataError."""
    if project is None:
        return
    id = row["id"]
    users = [*segments.list_strategies(conn, id), *segments.list_default_strategies(conn, id)]
    others = {row["project"] for row in users} - {project}
    if others:
        raise BadDataError(
            f"The segment {row['name']} is used in project {', '.join(sorted(others))}.",
            path="project",
        )


def _build_duplicate_error(name: str) -> NameExistsError:
    return NameExistsError(f"Segment {name} already exists.", path="name")

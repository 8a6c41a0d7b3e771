"""Projects: rules, limits and events. `mode` is stored for tools that set it and has no effect."""

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from msgspec import UNSET, UnsetType

from sigservice.clock import format_iso
from sigservice.db.pool import Connection
from sigservice.db.statements import Row
from sigservice.errors import (
    BadDataError,
    ConflictError,
    ExceedsLimitError,
    NotFoundError,
    OperationDeniedError,
)
from sigservice.repository.projects import environments, project_environments, projects
from sigservice.services import revisions
from sigservice.services.access import api_tokens
from sigservice.services.identity import Identity
from sigservice.services.problems import Problems, build_duplicate_error
from sigservice.services.system import events

DEFAULT = "default"
MODES = ("open", "protected", "private")
MAX_PROJECTS = 500
_NOT_IN_IDS = re.compile(r"[^a-z0-9._~-]+")


@dataclass(frozen=True)
class ProjectFields:
    """The checked attributes of a project."""

    name: str
    description: str | None
    mode: str
    default_stickiness: str


def check_fields(
    name: str, description: str | None, mode: str, default_stickiness: str
) -> ProjectFields:
    """Raises BadDataError with each invalid field."""
    name, description = name.strip(), (description or "").strip() or None
    problems = Problems().check_text(name, "name", min_length=1, max_length=200)
    problems.check_text(description, "description", max_length=1000).check_choice(
        mode, "mode", MODES
    )
    if not 1 <= len(default_stickiness) <= 100:
        problems.add("defaultStickiness", "Must be default, random or the name of a context field.")
    problems.raise_if_any()
    return ProjectFields(name, description, mode, default_stickiness)


def get(conn: Connection, id: str) -> Row:
    """Raises NotFoundError."""
    rows = projects.list_all(conn, id)
    if not rows:
        raise NotFoundError(f"Project {id} not found.")
    return rows[0]


def check_id_available(conn: Connection, id: str) -> None:
    """Raises BadDataError for an invalid ID, NameExistsError for an existing one."""
    Problems().check_name(id, "id").raise_if_any()
    if id in projects.list_ids(conn):
        raise build_duplicate_error(id, "id")


def create(
    conn: Connection,
    id: str | None,
    new: ProjectFields,
    by: Identity,
    *,
    environment_names: Sequence[str] | None = None,
) -> Row:
    """The ID is generated from the name if it is missing; the default is all enabled environments.

    Raises BadDataError, NameExistsError, ExceedsLimitError.
    """
    if id:
        Problems().check_name(id, "id").raise_if_any()
    revisions.lock(conn)
    ids = projects.list_ids(conn)
    if id and id in ids:
        raise build_duplicate_error(id, "id")
    if len(ids) >= MAX_PROJECTS:
        raise ExceedsLimitError(
            f"There can't be more than {MAX_PROJECTS} projects.",
            resource="projects",
            limit=MAX_PROJECTS,
        )
    id = id or _generate_id(new.name, ids)
    is_enabled_by_name = {row["name"]: row["enabled"] for row in environments.list_all(conn)}
    if environment_names is None:
        environment_names = [name for name, is_enabled in is_enabled_by_name.items() if is_enabled]
    for name in environment_names:
        if name not in is_enabled_by_name:
            raise BadDataError(f"Environment {name} not found.", path="environments")
    projects.insert(conn, id=id, **asdict(new))
    project_environments.link(conn, id, list(environment_names))
    row = get(conn, id)
    data = build_event_data(row) | {"environments": list(environment_names)}
    events.record(conn, "project-created", by, data=data, project=id)
    return row


def update(
    conn: Connection,
    id: str,
    by: Identity,
    *,
    name: str,
    description: str | UnsetType | None = UNSET,
    mode: str | None = None,
    default_stickiness: str | None = None,
) -> Row:
    """Changes only the given attributes; None clears the description. Raises NotFoundError,
    BadDataError."""
    revisions.lock(conn)
    before = get(conn, id)
    new = check_fields(
        name,
        before["description"] if description is UNSET else description,
        before["mode"] if mode is None else mode,
        before["default_stickiness"] if default_stickiness is None else default_stickiness,
    )
    if asdict(new).items() <= before.items():
        return before
    projects.update(conn, id, **asdict(new))
    row = get(conn, id)
    data, pre_data = build_event_data(row), build_event_data(before)
    events.record(conn, "project-updated", by, data=data, pre_data=pre_data, project=id)
    return row


def delete(conn: Connection, id: str, by: Identity) -> None:
    """Deletes its archived flags too.

    Raises NotFoundError, OperationDeniedError, ConflictError while it has flags or segments.
    """
    revisions.lock(conn)
    before = get(conn, id)
    if id == DEFAULT:
        raise OperationDeniedError(f"The project {DEFAULT} can't be deleted.")
    if before["feature_count"]:
        raise ConflictError(f"The project {id} still has flags: {before['feature_count']}.")
    if segments := projects.list_segments(conn, id):
        raise ConflictError(f"The project {id} still has segments: {', '.join(segments)}.")
    api_tokens.remove_project(conn, id, by)
    deleted = projects.delete_archived_features(conn, id)
    projects.delete(conn, id)
    events.record_many(
        conn, "feature-deleted", by, [{"project": id, "feature_name": name} for name in deleted]
    )
    events.record(conn, "project-deleted", by, pre_data=build_event_data(before), project=id)


def to_json(row: Row, *, is_favorite: bool) -> dict[str, Any]:
    """A project of the list."""
    return build_event_data(row) | {
        "health": 100,
        "technicalDebt": 0,
        "featureCount": row["feature_count"],
        "staleFeatureCount": row["stale_feature_count"],
        "memberCount": row["member_count"],
        "createdAt": format_iso(row["created_at"]),
        "updatedAt": format_iso(row["updated_at"]),
        "archivedAt": None,
        "favorite": is_favorite,
        "owners": [{"ownerType": "system"}],
    }


def build_event_data(row: Row) -> dict[str, Any]:
    """What events of a project say about it."""
    return {
        "id": row["id"],
        "name": row["name"],
        "description": row["description"],
        "mode": row["mode"],
        "defaultStickiness": row["default_stickiness"],
    }


def _generate_id(name: str, existing: set[str]) -> str:
    base = _NOT_IN_IDS.sub("-", name.lower()).strip("-.")[:90] or "project"
    return next(
        id
        for id in (base, *(f"{base}-{n}" for n in range(2, MAX_PROJECTS + 2)))
        if id not in existing
    )

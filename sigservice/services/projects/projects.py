"""Projects: rules, limits and events. `mode` is stored for tools that set it and has no effect."""

import re
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from sigservice.clock import format_iso
from sigservice.db import Connection, Row
from sigservice.errors import BadDataError, ConflictError, OperationDeniedError
from sigservice.repository.projects import environments, project_environments, projects
from sigservice.services import revisions
from sigservice.services.access import api_tokens
from sigservice.services.definitions import DefinitionKind, clean_text
from sigservice.services.flags import feature_lifecycle
from sigservice.services.identity import Identity
from sigservice.services.problems import Problems, build_duplicate_error, build_limit_error
from sigservice.services.system import events

DEFAULT = "default"
MODES = ("open", "protected", "private")
MAX_PROJECTS = 500
Fields = TypeVar("Fields", bound="ProjectFields")
_NOT_IN_IDS = re.compile(r"[^a-z0-9._~-]+")


class ProjectFields(msgspec.Struct, rename="camel"):
    name: str
    description: str | None = None
    mode: str = "open"
    default_stickiness: str = "default"


class NewProject(ProjectFields):
    """By default the ID is generated from the name, and the project has all enabled
    environments."""

    id: str | None = None
    environments: list[str] | None = None


class Project(ProjectFields, kw_only=True):
    id: str


class ProjectChanges(msgspec.Struct, rename="camel"):
    """Absent and null members keep their values; a null description removes it."""

    name: str
    description: str | UnsetType | None = UNSET
    mode: str | None = None
    default_stickiness: str | None = None


def check(item: Fields, problems: Problems, path: str = "") -> Fields:
    """The project in the form in which it is stored; its ID is checked elsewhere."""
    item = replace(item, name=item.name.strip(), description=clean_text(item.description))
    problems.check_text(item.name, f"{path}name", min_length=1, max_length=200)
    problems.check_text(item.description, f"{path}description", max_length=1000)
    problems.check_choice(item.mode, f"{path}mode", MODES)
    if not 1 <= len(item.default_stickiness) <= 100:
        text = "Must be default, random or the name of a context field."
        problems.add(f"{path}defaultStickiness", text)
    return item


KIND = DefinitionKind(
    "Project",
    "project",
    Project,
    projects,
    check,
    key="id",
    event_scope="project",
)
build_event_data = KIND.build_event_data
get, update = KIND.get, KIND.update


def create(conn: Connection, new: NewProject, by: Identity) -> Row:
    """Raises BadDataError, NameExistsError, ExceedsLimitError."""
    problems = Problems()
    if new.id:
        KIND.check_key(new.id, problems)
    new = check(new, problems)
    problems.raise_if_any()
    revisions.lock(conn)
    ids = projects.list_ids(conn)
    if new.id in ids:
        raise build_duplicate_error(new.id, "id")
    if len(ids) >= MAX_PROJECTS:
        raise build_limit_error(MAX_PROJECTS, "project", "projects")
    id = new.id or _generate_id(new.name, ids)
    is_enabled_by_name = {row["name"]: row["enabled"] for row in environments.list_all(conn)}
    names = new.environments
    if names is None:
        names = [name for name, is_enabled in is_enabled_by_name.items() if is_enabled]
    for name in names:
        if name not in is_enabled_by_name:
            raise BadDataError(f"Environment {name} not found.", path="environments")
    projects.put(conn, [replace(new, id=id)])
    project_environments.link(conn, id, names)
    row = get(conn, id)
    data = build_event_data(row) | {"environments": names}
    events.record(conn, "project-created", by, data=data, project=id)
    return row


def delete(conn: Connection, id: str, by: Identity) -> None:
    """Deletes its archived flags and its action sets too.

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
    sets = projects.delete_action_sets(conn, id)
    projects.delete(conn, id)
    events.record_many(
        conn, "feature-deleted", by, [{"project": id, "feature_name": name} for name in deleted]
    )
    events.record_many(
        conn, "actions-deleted", by, [{"project": id, "pre_data": row} for row in sets]
    )
    KIND.record_deletion(conn, before, by)


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


def _generate_id(name: str, existing: set[str]) -> str:
    base = _NOT_IN_IDS.sub("-", name.lower()).strip("-.")[:90] or "project"
    return next(
        id
        for id in (base, *(f"{base}-{n}" for n in range(2, MAX_PROJECTS + 2)))
        if id not in existing
    )


def build_status(conn: Connection, project: str) -> dict[str, Any]:
    """Health is the percentage of flags that are neither stale nor potentially stale; technical
    debt is the rest. Raises NotFoundError."""
    members = get(conn, project)["member_count"]
    counts = projects.count_flags(conn, project)
    stale = counts["stale"] + counts["potentially_stale"]
    health = round(100 - 100 * stale / counts["features"]) if counts["features"] else 100
    return {
        "resources": {
            "members": members,
            "apiTokens": counts["api_tokens"],
            "segments": counts["segments"],
        },
        "activityCountByDate": [
            {"date": row["day"], "count": row["events"]}
            for row in projects.count_events_by_day(conn, project)
        ],
        "health": {"current": health},
        "technicalDebt": {"current": 100 - health},
        "staleFlags": {"total": stale},
        "lifecycleSummary": feature_lifecycle.summarize(conn, project),
    }

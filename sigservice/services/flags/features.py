"""Flags: their names, what they are for, and their life from creation to deletion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sigservice.clock import format_iso
from sigservice.db.errors import UniqueViolation
from sigservice.db.pool import Connection
from sigservice.db.statements import Row
from sigservice.errors import (
    BadDataError,
    ExceedsLimitError,
    ForbiddenError,
    NameExistsError,
    NotFoundError,
)
from sigservice.repository.flags import (
    feature_dependencies,
    feature_environments,
    feature_strategies,
    features,
)
from sigservice.repository.projects import projects
from sigservice.services import revisions
from sigservice.services.identity import Identity
from sigservice.services.problems import Problems
from sigservice.services.system import events

MOST_FEATURES = 5000


@dataclass(frozen=True)
class Metadata:
    """What describes a flag and decides nothing."""

    type: str = "release"
    description: str | None = None
    impression_data: bool = False
    stale: bool = False


def check_name(name: str) -> None:
    """Raises BadDataError."""
    Problems().check_name(name).raise_if_any()


def check_name_available(conn: Connection, name: str) -> None:
    """Raises NameExistsError, for the name of an archived flag too."""
    row = features.find(conn, name)
    if row is not None:
        where = "in the archive" if row["archived_at"] else f"in the project {row['project']}"
        raise NameExistsError(f"A flag named {name} exists already, {where}.", path="name")


def check_metadata(conn: Connection, metadata: Metadata, problems: Problems) -> None:
    if metadata.type not in {row["id"] for row in features.list_types(conn)}:
        problems.add("type", f"There is no flag type {metadata.type}.")
    problems.check_text(metadata.description, "description", max_length=5000)


def create(conn: Connection, project: str, name: str, metadata: Metadata, by: Identity) -> Row:
    """Off everywhere. Raises NotFoundError (project), BadDataError, NameExistsError,
    ExceedsLimitError."""
    revisions.lock(conn)
    _check_project(conn, project)
    problems = Problems().check_name(name)
    check_metadata(conn, metadata, problems)
    problems.raise_if_any()
    check_name_available(conn, name)
    _check_room(conn, 1)
    try:
        row = features.insert(
            conn,
            name=name,
            project=project,
            type=metadata.type,
            description=metadata.description,
            impression_data=metadata.impression_data,
            stale=metadata.stale,
            created_by=by.username,
            created_by_user_id=by.user_id,
        )
    except UniqueViolation as error:
        raise NameExistsError(f"A flag named {name} exists already.") from error
    events.record(
        conn, "feature-created", by, data=to_json(row), project=project, feature_name=name
    )
    revisions.bump(conn)
    return row


def clone(
    conn: Connection, project: str, source: str, name: str, *, replace_group_id: bool, by: Identity
) -> Row:
    """Off everywhere, with the strategies of `source`. Raises as `create` and `get` do."""
    revisions.lock(conn)
    model = get(conn, project, source)
    metadata = Metadata(model["type"], model["description"], model["impression_data"], stale=False)
    row = create(conn, project, name, metadata, by)
    feature_environments.copy(conn, source, name)
    feature_strategies.copy(conn, source, name, name if replace_group_id else None)
    return row


def get(conn: Connection, project: str, name: str) -> Row:
    """A flag of this project, archived or not; raises NotFoundError."""
    row = features.find(conn, name)
    if row is None or row["project"] != project:
        raise NotFoundError(f"There is no flag {name} in the project {project}.")
    return row


def get_active(conn: Connection, project: str, name: str) -> Row:
    """A flag of this project that is not archived; raises NotFoundError."""
    row = get(conn, project, name)
    if row["archived_at"]:
        raise NotFoundError(f"The flag {name} is archived.")
    return row


def get_all(conn: Connection, project: str, names: Sequence[str]) -> list[Row]:
    """By name, archived or not; raises NotFoundError when one is missing."""
    rows = [r for r in features.list_by_name(conn, list(names)) if r["project"] == project]
    _check_all_found(names, rows, f"in the project {project}")
    return rows


def update(conn: Connection, project: str, name: str, metadata: Metadata, by: Identity) -> Row:
    """Raises NotFoundError, BadDataError."""
    revisions.lock(conn)
    before = get(conn, project, name)
    problems = Problems()
    check_metadata(conn, metadata, problems)
    problems.raise_if_any()
    row = features.update(
        conn,
        name,
        type=metadata.type,
        description=metadata.description,
        stale=metadata.stale,
        impression_data=metadata.impression_data,
    )
    events.record(
        conn,
        "feature-metadata-updated",
        by,
        data=to_json(row),
        pre_data=to_json(before),
        project=project,
        feature_name=name,
    )
    revisions.bump(conn)
    return row


def archive(conn: Connection, project: str, names: Sequence[str], by: Identity) -> None:
    """Again is no error. Raises NotFoundError, ForbiddenError for a parent of flags that stay."""
    revisions.lock(conn)
    rows = get_all(conn, project, names)
    found = [row["name"] for row in rows]
    links = feature_dependencies.list_related(conn, found)
    for link in links:
        if link["parent"] in found and link["child"] not in found and link["child_lives"]:
            raise ForbiddenError(
                f"{link['parent']} is the parent of {link['child']}; remove the dependency first."
            )
    orphans = [link for link in links if link["child"] in found]
    feature_dependencies.delete_by_children(conn, found)
    features.archive(conn, found)
    events.record_many(
        conn,
        "feature-dependencies-removed",
        by,
        [
            {
                "project": project,
                "feature_name": link["child"],
                "pre_data": {"feature": link["parent"]},
            }
            for link in orphans
        ],
    )
    _record_each(conn, "feature-archived", [r for r in rows if not r["archived_at"]], by)
    revisions.bump(conn)


def revive(conn: Connection, names: Sequence[str], by: Identity) -> None:
    """Off everywhere. Raises NotFoundError when one of them is not in the archive,
    ExceedsLimitError."""
    revisions.lock(conn)
    rows = features.list_by_name(conn, list(names))
    _check_all_found(names, [row for row in rows if row["archived_at"]], "in the archive")
    _check_room(conn, len(rows))
    features.revive(conn, [row["name"] for row in rows])
    _record_each(conn, "feature-revived", rows, by)
    revisions.bump(conn)


def delete(conn: Connection, names: Sequence[str], by: Identity) -> None:
    """For good. Unknown ones are ignored; raises BadDataError for one that is not archived."""
    revisions.lock(conn)
    rows = features.list_by_name(conn, list(names))
    alive = [row["name"] for row in rows if not row["archived_at"]]
    if alive:
        raise BadDataError(f"{', '.join(alive)} must be archived before it is deleted.")
    features.delete(conn, [row["name"] for row in rows])
    _record_each(conn, "feature-deleted", rows, by)
    revisions.bump(conn)


def set_stale(
    conn: Connection, project: str, names: Sequence[str], stale: bool, by: Identity
) -> None:
    """Raises NotFoundError."""
    revisions.lock(conn)
    changed = [row for row in get_all(conn, project, names) if row["stale"] != stale]
    features.set_stale(conn, [row["name"] for row in changed], stale)
    _record_each(conn, "feature-stale-on" if stale else "feature-stale-off", changed, by)
    revisions.bump(conn)


def to_json(row: Row) -> dict[str, Any]:
    """A flag on the wire, without its environments."""
    return {
        "name": row["name"],
        "description": row["description"],
        "type": row["type"],
        "project": row["project"],
        "stale": row["stale"],
        "impressionData": row["impression_data"],
        "archived": row["archived_at"] is not None,
        "archivedAt": _iso(row["archived_at"]),
        "createdAt": format_iso(row["created_at"]),
        "lastSeenAt": _iso(row["last_seen_at"]),
        "createdBy": {"id": row["created_by_user_id"], "name": row["created_by"], "imageUrl": ""},
        "favorite": False,
    }


def _iso(moment: Any) -> str | None:
    return format_iso(moment) if moment else None


def _check_project(conn: Connection, id: str) -> None:
    if not projects.exists(conn, id):
        raise NotFoundError(f"There is no project {id}.")


def _check_room(conn: Connection, more: int) -> None:
    if features.count(conn) + more > MOST_FEATURES:
        raise ExceedsLimitError(
            f"There can't be more than {MOST_FEATURES} flags.",
            resource="featureFlags",
            limit=MOST_FEATURES,
        )


def _check_all_found(names: Sequence[str], rows: Sequence[Row], where: str) -> None:
    found = {row["name"] for row in rows}
    missing = [name for name in names if name not in found]
    if missing:
        raise NotFoundError(f"There is no flag {', '.join(missing[:10])} {where}.")


def _record_each(conn: Connection, type: str, rows: Sequence[Row], by: Identity) -> None:
    """`rows` are the flags before the change, which is made already."""
    after = {row["name"]: row for row in features.list_by_name(conn, [r["name"] for r in rows])}
    items = []
    for row in rows:
        item = {"project": row["project"], "feature_name": row["name"], "pre_data": to_json(row)}
        if row["name"] in after:
            item["data"] = to_json(after[row["name"]])
        items.append(item)
    events.record_many(conn, type, by, items)

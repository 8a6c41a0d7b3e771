"""Flags: name, metadata, and the life cycle from creation to deletion."""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from sigservice.clock import format_iso, format_optional
from sigservice.db import Connection, Row
from sigservice.errors import BadDataError, ForbiddenError, NameExistsError, NotFoundError
from sigservice.repository.flags import (
    feature_dependencies,
    feature_environments,
    feature_lifecycle,
    feature_strategies,
    features,
)
from sigservice.services import revisions
from sigservice.services.definitions import read_row
from sigservice.services.flags import feature_naming
from sigservice.services.identity import Identity
from sigservice.services.problems import Problems, build_limit_error
from sigservice.services.system import events

MAX_FEATURES = 20_000


class Metadata(msgspec.Struct, rename="camel"):
    """The fields that describe a flag and don't affect its evaluation. Without `permanent` an
    existing flag keeps its value, and a new one has the default of its type."""

    type: str = "release"
    description: str | None = None
    impression_data: bool = False
    stale: bool = False
    permanent: bool | UnsetType = UNSET


class MetadataChanges(msgspec.Struct, rename="camel"):
    """Absent members keep their values."""

    type: str | UnsetType = UNSET
    description: str | UnsetType | None = UNSET
    impression_data: bool | UnsetType = UNSET
    stale: bool | UnsetType = UNSET
    permanent: bool | UnsetType = UNSET


def check_name(conn: Connection, name: str, project: str | None) -> None:
    """Raises BadDataError, also for a name that doesn't match the pattern of the project, and
    NotFoundError for an unknown project."""
    problems = Problems().check_name(name)
    if project is not None:
        _check_naming(conn, project, name, problems)
    problems.raise_if_any()


def check_name_available(conn: Connection, name: str) -> None:
    """Raises NameExistsError, also for the name of an archived flag."""
    row = features.find(conn, name)
    if row is not None:
        where = "in the archive" if row["archived_at"] else f"in project {row['project']}"
        raise NameExistsError(f"Flag {name} already exists {where}.", path="name")


def check_metadata(conn: Connection, metadata: Metadata, problems: Problems) -> None:
    if metadata.type not in {row["id"] for row in features.list_types(conn)}:
        problems.add("type", f"Flag type {metadata.type} not found.")
    problems.check_text(metadata.description, "description", max_length=5000)


def create(conn: Connection, project: str, name: str, metadata: Metadata, by: Identity) -> Row:
    """Creates a flag that is disabled in every environment. Raises NotFoundError (project),
    BadDataError, NameExistsError, ExceedsLimitError."""
    revisions.lock(conn)
    problems = Problems().check_name(name)
    _check_naming(conn, project, name, problems)
    check_metadata(conn, metadata, problems)
    problems.raise_if_any()
    check_name_available(conn, name)
    _check_limit(conn, 1)
    row = _put(conn, project, name, metadata, by)
    events.record(
        conn, "feature-created", by, data=to_json(row), project=project, feature_name=name
    )
    revisions.bump(conn, flags=[name])
    return row


def clone(
    conn: Connection, project: str, source: str, name: str, *, replace_group_id: bool, by: Identity
) -> Row:
    """Creates a flag with the strategies of `source`, disabled in every environment. Raises as
    `create` and `get` do."""
    revisions.lock(conn)
    original = get(conn, project, source)
    metadata = msgspec.structs.replace(read_row(Metadata, original), stale=False)
    row = create(conn, project, name, metadata, by)
    feature_environments.copy(conn, source, name)
    feature_strategies.copy(conn, source, name, name if replace_group_id else None)
    return row


def get(conn: Connection, project: str, name: str) -> Row:
    """A flag of this project, archived or not. Raises NotFoundError."""
    row = features.find(conn, name)
    if row is None or row["project"] != project:
        raise NotFoundError(f"Flag {name} not found in project {project}.")
    return row


def get_active(conn: Connection, project: str, name: str) -> Row:
    """A flag of this project that isn't archived. Raises NotFoundError."""
    row = get(conn, project, name)
    if row["archived_at"]:
        raise NotFoundError(f"Flag {name} is archived.")
    return row


def get_all(conn: Connection, project: str, names: Sequence[str]) -> list[Row]:
    """Flags of this project by name, archived or not. Raises NotFoundError if one is missing."""
    rows = [r for r in features.list_by_name(conn, list(names)) if r["project"] == project]
    _check_complete(names, rows, f"in project {project}")
    return rows


def update(conn: Connection, project: str, name: str, metadata: Metadata, by: Identity) -> Row:
    """A flag that becomes permanent isn't stale any longer. Raises NotFoundError, BadDataError."""
    revisions.lock(conn)
    before = get(conn, project, name)
    problems = Problems()
    check_metadata(conn, metadata, problems)
    problems.raise_if_any()
    if metadata.permanent is True and not before["permanent"]:
        metadata = msgspec.structs.replace(metadata, stale=False)
    row = _put(conn, project, name, metadata, by)
    events.record(
        conn,
        "feature-metadata-updated",
        by,
        data=to_json(row),
        pre_data=to_json(before),
        project=project,
        feature_name=name,
    )
    revisions.bump(conn, flags=[name])
    return row


def archive(conn: Connection, project: str, names: Sequence[str], by: Identity) -> None:
    """Ignores archived flags. Raises NotFoundError, ForbiddenError for a parent of other flags."""
    revisions.lock(conn)
    rows = get_all(conn, project, names)
    links = feature_dependencies.list_related(conn, list(names))
    for link in links:
        if link["parent"] in names and link["child"] not in names and link["child_is_active"]:
            raise ForbiddenError(
                f"{link['parent']} is the parent of {link['child']}. Remove the dependency first."
            )
    removed = [link for link in links if link["child"] in names]
    feature_dependencies.delete_by_children(conn, list(names))
    features.archive(conn, list(names))
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
            for link in removed
        ],
    )
    _record_each(conn, "feature-archived", [r for r in rows if not r["archived_at"]], by)
    revisions.bump(conn, flags=names)


def revive(conn: Connection, names: Sequence[str], by: Identity) -> None:
    """Revived flags are disabled in every environment. Raises NotFoundError for one that isn't
    archived, ExceedsLimitError."""
    revisions.lock(conn)
    rows = features.list_by_name(conn, list(names))
    _check_complete(names, [row for row in rows if row["archived_at"]], "in the archive")
    _check_limit(conn, len(rows))
    features.revive(conn, [row["name"] for row in rows])
    feature_lifecycle.restart(conn, [row["name"] for row in rows])
    _record_each(conn, "feature-revived", rows, by)
    revisions.bump(conn, flags=names)


def delete(conn: Connection, names: Sequence[str], by: Identity) -> None:
    """Deletes archived flags permanently and ignores unknown names. Raises BadDataError for a flag
    that isn't archived."""
    revisions.lock(conn)
    rows = features.list_by_name(conn, list(names))
    active = [row["name"] for row in rows if not row["archived_at"]]
    if active:
        raise BadDataError(f"{', '.join(active)} must be archived before it is deleted.")
    features.delete(conn, [row["name"] for row in rows])
    _record_each(conn, "feature-deleted", rows, by)
    revisions.bump(conn, flags=names)


def set_stale(
    conn: Connection, project: str, names: Sequence[str], stale: bool, by: Identity
) -> None:
    """Raises NotFoundError."""
    revisions.lock(conn)
    changed = [row for row in get_all(conn, project, names) if row["stale"] != stale]
    features.set_stale(conn, [row["name"] for row in changed], stale)
    _record_each(conn, "feature-stale-on" if stale else "feature-stale-off", changed, by)
    revisions.bump(conn, flags=names)


def mark_permanent(conn: Connection, project: str, names: Sequence[str], by: Identity) -> None:
    """Clears `stale`: a permanent flag is never ready to be removed. Raises NotFoundError."""
    revisions.lock(conn)
    changed = [row for row in get_all(conn, project, names) if not row["permanent"] or row["stale"]]
    features.mark_permanent(conn, [row["name"] for row in changed])
    _record_each(conn, "feature-metadata-updated", changed, by)
    revisions.bump(conn, flags=names)


def to_json(row: Row) -> dict[str, Any]:
    """A flag in the format of the API, without its environments."""
    return {
        "name": row["name"],
        "description": row["description"],
        "type": row["type"],
        "project": row["project"],
        "stale": row["stale"],
        "impressionData": row["impression_data"],
        "permanent": row["permanent"],
        "archived": row["archived_at"] is not None,
        "archivedAt": format_optional(row["archived_at"]),
        "createdAt": format_iso(row["created_at"]),
        "lastSeenAt": format_optional(row["last_seen_at"]),
        "createdBy": {"id": row["created_by_user_id"], "name": row["created_by"], "imageUrl": ""},
        "favorite": False,
    }


def _put(conn: Connection, project: str, name: str, metadata: Metadata, by: Identity) -> Row:
    item = {"project": project, "name": name} | msgspec.to_builtins(metadata)
    features.put(conn, [item], created_by=by.username, created_by_user_id=by.user_id)
    return get(conn, project, name)


def _check_naming(conn: Connection, project: str, name: str, problems: Problems) -> None:
    mismatch = feature_naming.find_mismatch(feature_naming.read(conn, project), name)
    if mismatch:
        problems.add("name", mismatch)


def _check_limit(conn: Connection, more: int) -> None:
    if features.count(conn) + more > MAX_FEATURES:
        raise build_limit_error(MAX_FEATURES, "flag", "featureFlags")


def _check_complete(names: Sequence[str], rows: Sequence[Row], where: str) -> None:
    existing = {row["name"] for row in rows}
    missing = [name for name in names if name not in existing]
    if missing:
        raise NotFoundError(f"Flag {', '.join(missing[:10])} not found {where}.")


def _record_each(conn: Connection, type: str, rows: Sequence[Row], by: Identity) -> None:
    """Records an event for each flag after a change; `rows` are the flags before it."""
    after = {row["name"]: row for row in features.list_by_name(conn, [r["name"] for r in rows])}
    items = []
    for row in rows:
        item = {"project": row["project"], "feature_name": row["name"], "pre_data": to_json(row)}
        if row["name"] in after:
            item["data"] = to_json(after[row["name"]])
        items.append(item)
    events.record_many(conn, type, by, items)

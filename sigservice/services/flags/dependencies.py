"""Parent flags: a flag is evaluated only when its parent is in the required state."""

from collections.abc import Sequence
from typing import Any

import msgspec

from sigservice.db import Connection, Row
from sigservice.errors import BadDataError, ForbiddenError
from sigservice.repository.flags import feature_dependencies
from sigservice.repository.flags import features as feature_rows
from sigservice.services import revisions
from sigservice.services.flags import features
from sigservice.services.identity import Identity
from sigservice.services.system import events


def set_parent(
    conn: Connection,
    project: str,
    child: str,
    parent: str,
    by: Identity,
    *,
    enabled: bool = True,
    variants: Sequence[str] = (),
) -> None:
    """Replaces the parent; a flag has at most one. Raises BadDataError, NotFoundError for the
    child, ForbiddenError for an archived child or a flag that can't be a parent."""
    revisions.lock(conn)
    if features.get(conn, project, child)["archived_at"]:
        raise ForbiddenError(f"{child} is archived. Revive it first.")
    if variants and not enabled:
        raise BadDataError("Variants can be required only of an enabled parent.", path="variants")
    _check_parent(conn, project, child, parent)
    before = _find_parent(conn, child)
    feature_dependencies.upsert(
        conn, child, parent, enabled=enabled, variants=msgspec.json.encode(list(variants)).decode()
    )
    data = {"feature": parent, "enabled": enabled, "variants": list(variants)}
    events.record(
        conn,
        "feature-dependency-added",
        by,
        data=data,
        pre_data=before,
        project=project,
        feature_name=child,
    )
    revisions.bump(conn, flags=[child])


def remove_parent(
    conn: Connection, project: str, child: str, by: Identity, parent: str | None = None
) -> None:
    """Removes `parent`, or any parent if it is None. Does nothing without a parent. Raises
    NotFoundError for the child."""
    revisions.lock(conn)
    features.get(conn, project, child)
    before = _find_parent(conn, child)
    if parent:
        type, count = "feature-dependency-removed", feature_dependencies.delete(conn, child, parent)
    else:
        type = "feature-dependencies-removed"
        count = feature_dependencies.delete_by_children(conn, [child])
    if count:
        events.record(conn, type, by, pre_data=before, project=project, feature_name=child)
        revisions.bump(conn, flags=[child])


def list_possible_parents(conn: Connection, project: str, child: str) -> list[str]:
    """Raises NotFoundError."""
    features.get(conn, project, child)
    return feature_dependencies.list_possible_parents(conn, project, child)


def to_json(row: Row) -> dict[str, Any]:
    """A parent in the format of the API."""
    return {
        "feature": row["parent"],
        "enabled": row["enabled"],
        "variants": msgspec.json.decode(row["variants"]),
    }


def _find_parent(conn: Connection, child: str) -> dict[str, Any] | None:
    links = feature_dependencies.list_related(conn, [child])
    return next((to_json(link) for link in links if link["child"] == child), None)


def _check_parent(conn: Connection, project: str, child: str, parent: str) -> None:
    if parent == child:
        raise ForbiddenError("A flag can't be its own parent.")
    row = feature_rows.find(conn, parent)
    if row is None or row["archived_at"]:
        raise ForbiddenError(f"Flag {parent} not found.")
    if row["project"] != project:
        raise ForbiddenError(f"{parent} is in another project.")
    for link in feature_dependencies.list_related(conn, [child, parent]):
        if link["child"] == parent:
            raise ForbiddenError(f"{parent} has a parent flag itself; only one level is allowed.")
        if link["parent"] == child and link["child_is_active"]:
            raise ForbiddenError(f"{child} is a parent flag itself; only one level is allowed.")

"""Tags on flags. The first use of a value creates the tag; its type must exist."""

from collections.abc import Sequence

import msgspec

from sigservice.db import Connection
from sigservice.errors import NotFoundError
from sigservice.repository.flags import feature_tags, features
from sigservice.services import revisions
from sigservice.services.identity import Identity
from sigservice.services.problems import Problems
from sigservice.services.system import events


class Tag(msgspec.Struct, frozen=True):
    type: str
    value: str


class TagChanges(msgspec.Struct):
    addedTags: list[Tag]
    removedTags: list[Tag]


def change(
    conn: Connection,
    names: Sequence[str],
    by: Identity,
    *,
    add: Sequence[Tag] = (),
    remove: Sequence[Tag] = (),
) -> None:
    """Ignores tags to add that exist and tags to remove that don't. Raises NotFoundError (flag),
    BadDataError (type or value)."""
    revisions.lock(conn)
    rows = features.list_by_name(conn, list(names))
    projects = {row["name"]: row["project"] for row in rows}
    missing = [name for name in names if name not in projects]
    if missing:
        raise NotFoundError(f"Flag {', '.join(missing[:10])} not found.")
    check(conn, add)
    added = feature_tags.add(conn, list(names), _pairs(add)) if add else []
    removed = feature_tags.remove(conn, list(names), _pairs(remove)) if remove else []
    for type, key, changed in (
        ("feature-tagged", "data", added),
        ("feature-untagged", "pre_data", removed),
    ):
        items = [
            {
                "project": projects[row["feature"]],
                "feature_name": row["feature"],
                key: {"type": row["type"], "value": row["value"]},
            }
            for row in changed
        ]
        events.record_many(conn, type, by, items)
    if added or removed:
        revisions.bump(conn, flags=names)


def check(conn: Connection, tags: Sequence[Tag]) -> None:
    """Raises BadDataError."""
    problems = Problems()
    for type in feature_tags.list_missing_types(conn, [tag.type for tag in tags]):
        problems.add("type", f"Tag type {type} not found.")
    for tag in tags:
        if not 2 <= len(tag.value) <= 50 or tag.value != tag.value.strip():
            problems.add(
                "value", "A tag's value must have 2 to 50 characters, without spaces around it."
            )
    problems.raise_if_any()


def _pairs(tags: Sequence[Tag]) -> list[tuple[str, str]]:
    return [(tag.type, tag.value) for tag in tags]

"""Tags: rules and events."""

from sigservice.db import Connection, Row
from sigservice.errors import BadDataError, require_found
from sigservice.repository.projects import tag_types, tags
from sigservice.services import revisions
from sigservice.services.identity import Identity
from sigservice.services.problems import build_duplicate_error
from sigservice.services.system import events


def get(conn: Connection, type: str, value: str) -> Row:
    """Returns the tag in the form of the API. Raises NotFoundError."""
    return require_found(tags.find(conn, type, value), f"There is no tag {type}:{value}.")


def create(conn: Connection, type: str, value: str, by: Identity) -> Row:
    """Raises BadDataError, NameExistsError."""
    value = value.strip()
    if not 2 <= len(value) <= 50:
        raise BadDataError("A tag's value must have 2 to 50 characters.", path="value")
    revisions.lock(conn)
    if tag_types.find(conn, type) is None:
        raise BadDataError(f"Tag type {type} not found.", path="type")
    if tags.find(conn, type, value):
        raise build_duplicate_error(f"{type}:{value}", "tag")
    tags.put(conn, [{"type": type, "value": value}])
    row = get(conn, type, value)
    events.record(conn, "tag-created", by, data=row)
    return row


def delete(conn: Connection, type: str, value: str, by: Identity) -> None:
    """Removes it from its flags too; does nothing if it doesn't exist."""
    revisions.lock(conn)
    if tags.delete(conn, type, value):
        events.record(conn, "tag-deleted", by, pre_data={"type": type, "value": value})
        revisions.bump(conn, flags=None)

"""Tags: rules and events."""

from sigservice.db.errors import UniqueViolation
from sigservice.db.pool import Connection
from sigservice.db.statements import Row
from sigservice.errors import BadDataError, NotFoundError
from sigservice.repository.projects import tag_types, tags
from sigservice.services import revisions
from sigservice.services.identity import Identity
from sigservice.services.problems import build_duplicate_error
from sigservice.services.system import events


def get(conn: Connection, type: str, value: str) -> Row:
    """Returns the tag in the form of the API. Raises NotFoundError."""
    rows = tags.list_all(conn, type, value)
    if not rows:
        raise NotFoundError(f"There is no tag {type}:{value}.")
    return rows[0]


def create(conn: Connection, type: str, value: str, by: Identity) -> Row:
    """Raises BadDataError, NameExistsError."""
    value = value.strip()
    if not 2 <= len(value) <= 50:
        raise BadDataError("A tag's value must have 2 to 50 characters.", path="value")
    revisions.lock(conn)
    if not tag_types.list_all(conn, type):
        raise BadDataError(f"Tag type {type} not found.", path="type")
    try:
        tags.insert(conn, type, value)
    except UniqueViolation as error:
        raise build_duplicate_error(f"{type}:{value}", "tag") from error
    row = get(conn, type, value)
    events.record(conn, "tag-created", by, data=row)
    return row


def delete(conn: Connection, type: str, value: str, by: Identity) -> None:
    """Removes it from its flags too; does nothing if it doesn't exist."""
    revisions.lock(conn)
    if tags.delete(conn, type, value):
        events.record(conn, "tag-deleted", by, pre_data={"type": type, "value": value})
        revisions.bump(conn)

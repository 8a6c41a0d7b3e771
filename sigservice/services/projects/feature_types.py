"""Flag types: their expected lifetimes."""

from sigservice.db.pool import Connection
from sigservice.db.statements import Row
from sigservice.errors import BadDataError, NotFoundError
from sigservice.repository.projects import feature_types
from sigservice.services import revisions
from sigservice.services.identity import Identity
from sigservice.services.system import events

MAX_DAYS = 100_000


def get(conn: Connection, id: str) -> Row:
    """Raises NotFoundError."""
    for row in feature_types.list_all(conn):
        if row["id"] == id:
            return row
    raise NotFoundError(f"Flag type {id} not found.")


def set_lifetime(conn: Connection, id: str, days: int | None, by: Identity) -> Row:
    """0 and None: flags of this type never become stale by age. Raises NotFoundError,
    BadDataError."""
    if days is not None and not 0 <= days <= MAX_DAYS:
        message = f"lifetimeDays must be a whole number from 0 to {MAX_DAYS}."
        raise BadDataError(message, path="lifetimeDays")
    revisions.lock(conn)
    before = get(conn, id)
    feature_types.set_lifetime(conn, id, days or None)
    row = get(conn, id)
    if row != before:
        events.record(conn, "feature-type-updated", by, data=to_json(row), pre_data=to_json(before))
    return row


def to_json(row: Row) -> dict[str, str | int | None]:
    return {
        "id": row["id"],
        "name": row["name"],
        "description": row["description"],
        "lifetimeDays": row["lifetime_days"],
    }

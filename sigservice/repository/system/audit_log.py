"""The position of the written audit log: one function for each SQL statement."""

from sigservice.db import Connection, Row, execute, fetch_all, fetch_one, fetch_value, queries

_SQL = queries.load("system/audit_log")


def acquire(conn: Connection, owner: str) -> Row | None:
    """{event_id, is_first}: the last written event, and whether this is the first use. None if
    another process writes."""
    return fetch_one(conn, _SQL["acquire_audit_log"], owner=owner)


def advance(conn: Connection, owner: str, event_id: int) -> bool:
    """False if another process has the lease now."""
    return execute(conn, _SQL["advance_audit_log"], owner=owner, event_id=event_id) > 0


def find_newest(conn: Connection) -> int:
    """0 without events."""
    return int(fetch_value(conn, _SQL["find_newest_event"]))


def list_writers(conn: Connection) -> set[str]:
    """The transactions that may have inserted an event and haven't ended."""
    return {row["transaction"] for row in fetch_all(conn, _SQL["list_event_writers"])}


def list_after(conn: Connection, after: int, last: int, *, limit: int) -> list[Row]:
    """By ID."""
    return fetch_all(conn, _SQL["list_events_after"], after=after, last=last, limit=limit)

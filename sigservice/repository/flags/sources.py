"""Sources of files, and what they manage: one function for each statement."""

from collections.abc import Collection
from datetime import datetime

from sigservice.db import Connection, Row, execute, fetch_all, fetch_value, queries

_SQL = queries.load("flags/sources")


def put(conn: Connection, name: str, revision: str | None, applied_by: str) -> None:
    values = {"name": name, "revision": revision, "applied_by": applied_by}
    execute(conn, _SQL["put_source"], **values)


def list_all(conn: Connection) -> list[Row]:
    """{name, revision, applied_at, applied_by, flags, segments}; the last two are counts."""
    return fetch_all(conn, _SQL["list_sources"])


def delete(conn: Connection, name: str) -> None:
    """What it managed stays, and isn't managed."""
    execute(conn, _SQL["delete_source"], name=name)


def list_managed(
    conn: Connection,
    source: str | None,
    *,
    flags: Collection[str] = (),
    segments: Collection[str] = (),
    used_after: datetime,
) -> list[Row]:
    """{kind, project, name, source, archived, is_used} of what the source manages, and of these
    flags and segments if any source manages them. `is_used` if an SDK evaluated the flag later."""
    return fetch_all(
        conn,
        _SQL["list_managed"],
        source=source,
        flags=[*flags],
        segments=[*segments],
        used_after=used_after,
    )


def list_changes(conn: Connection, flags: Collection[str]) -> list[Row]:
    """{name, created_by, created_at}: who last changed the definition of each managed flag after
    the last apply of its source."""
    return fetch_all(conn, _SQL["list_changes_since_apply"], flags=[*flags])


def mark(
    conn: Connection, source: str | None, *, flags: Collection[str], segments: Collection[str]
) -> int:
    """Returns the number of flags and segments. With None none of them is managed any longer."""
    values = {"source": source, "flags": [*flags], "segments": [*segments]}
    return int(fetch_value(conn, _SQL["mark"], **values))

"""Pages that are shown once: one function for each SQL statement."""

from sigservice.db import Connection, execute, fetch_value, queries

_SQL = queries.load("system/once_pages")


def insert(conn: Connection, id: str, page: bytes) -> None:
    execute(conn, _SQL["insert_once_page"], id=id, page=page)


def take(conn: Connection, id: str) -> bytes | None:
    """Deletes the page and returns it; None if there is none, or if it is too old."""
    page = fetch_value(conn, _SQL["take_once_page"], id=id)
    return bytes(page) if page is not None else None


def delete_unread(conn: Connection, *, chunk: int) -> int:
    return execute(conn, _SQL["delete_unread_once_pages"], chunk=chunk)

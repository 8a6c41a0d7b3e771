"""Former passwords: one function for each SQL statement."""

from sigservice.db import queries
from sigservice.db.pool import Connection
from sigservice.db.statements import execute, fetch_all

_SQL = queries.load("access/former_passwords")


def add_current(conn: Connection, user_id: int) -> None:
    """Adds the current hash; does nothing without a password."""
    execute(conn, _SQL["add_current_password"], user_id=user_id)


def delete_surplus(conn: Connection, user_id: int, *, keep: int) -> int:
    return execute(conn, _SQL["delete_surplus_passwords"], user_id=user_id, keep=keep)


def list_hashes(conn: Connection, user_id: int) -> list[str]:
    """The hashes of the current password and the former ones."""
    rows = fetch_all(conn, _SQL["list_passwords"], user_id=user_id)
    return [row["password_hash"] for row in rows]

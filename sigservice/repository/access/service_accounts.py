"""Service accounts: one function for each SQL statement."""

from sigservice.db import Connection, Row, execute, fetch_all, fetch_one, fetch_value, queries

_SQL = queries.load("access/service_accounts")


def insert(conn: Connection, *, username: str, name: str | None, role_id: int) -> int:
    """The new ID; raises UniqueViolation (users_username_key)."""
    return int(
        fetch_value(
            conn, _SQL["insert_service_account"], username=username, name=name, role_id=role_id
        )
    )


def find(conn: Connection, id: int) -> Row | None:
    return fetch_one(conn, _SQL["list_service_accounts"], id=id)


def lock(conn: Connection, id: int) -> None:
    fetch_one(conn, _SQL["lock_service_account"], id=id)


def list_all(conn: Connection) -> list[Row]:
    return fetch_all(conn, _SQL["list_service_accounts"], id=None)


def update(conn: Connection, id: int, *, username: str, name: str | None, role_id: int) -> None:
    """Raises UniqueViolation."""
    execute(
        conn, _SQL["update_service_account"], id=id, username=username, name=name, role_id=role_id
    )


def delete(conn: Connection, id: int) -> bool:
    return execute(conn, _SQL["delete_service_account"], id=id) > 0

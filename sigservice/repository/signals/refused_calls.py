"""Refused calls of signal endpoints: one function for each SQL statement."""

from sigservice.db import Connection, Row, execute, fetch_all, queries

_SQL = queries.load("signals/refused_calls")


def lock(conn: Connection) -> None:
    execute(conn, _SQL["lock_refused_calls"])


def add(conn: Connection, calls: str) -> None:
    """`calls` is a JSON list of {position, endpoint_name, status, reason, secret_prefix, address,
    user_agent, calls, first_at, last_at}, with one item for each caller and reason."""
    execute(conn, _SQL["add_refused_calls"], calls=calls)


def delete_surplus(conn: Connection, *, keep: int, keep_of_address: int, days: int) -> int:
    statement = _SQL["delete_surplus_refused_calls"]
    return execute(conn, statement, keep=keep, keep_of_address=keep_of_address, days=days)


def list_of_endpoint(conn: Connection, endpoint_id: int | None) -> list[Row]:
    """The newest first; None for calls of names that no endpoint has."""
    return fetch_all(conn, _SQL["list_refused_calls"], endpoint_id=endpoint_id)


def count(conn: Connection, endpoint_id: int | None = None) -> list[Row]:
    """{endpoint_id, calls, last_at} of one endpoint or of each, if it has some."""
    return fetch_all(conn, _SQL["count_refused_calls"], endpoint_id=endpoint_id)

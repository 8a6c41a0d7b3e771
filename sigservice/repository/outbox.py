"""Mails and deliveries: one function for each SQL statement. The queues of integrations are in
repository/integrations/integrations.py."""

from datetime import datetime

from sigservice.db import Connection, Row, execute, fetch_one, queries

_SQL = queries.load("outbox")


def lease_mail(conn: Connection, *, now: datetime, until: datetime) -> Row | None:
    """The mail that has been due longest; its `payload` is JSON text."""
    return fetch_one(conn, _SQL["lease_mail"], now=now, until=until)


def settle_mail(
    conn: Connection, row: Row, *, result: str, error: str | None, due_at: datetime, now: datetime
) -> bool:
    """`result` is sent, waiting or given up; returns False if a later attempt has begun."""
    values = {"result": result, "error": error, "due_at": due_at, "now": now}
    attempt = {"id": row["id"], "attempts": row["attempts"]}
    return execute(conn, _SQL["settle_mail"], **attempt, **values) > 0


def retry(conn: Connection, id: int) -> bool:
    """False for a delivery that is sent."""
    return execute(conn, _SQL["retry_delivery"], id=id) > 0


def delete_old(conn: Connection, *, days: int, chunk: int) -> int:
    return execute(conn, _SQL["delete_old_messages"], days=days, chunk=chunk)

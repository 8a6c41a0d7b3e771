"""Mails: one function for each SQL statement."""

from datetime import datetime

from sigservice.db import Connection, Row, execute, fetch_one, queries

_SQL = queries.load("system/mails")


def delete_waiting(conn: Connection, user_id: int | None, *, before: datetime | None = None) -> int:
    """Deletes the user's waiting mails, only those from `before` or earlier if it is given."""
    return execute(conn, _SQL["delete_waiting_mails"], user_id=user_id, before=before)


def insert(
    conn: Connection,
    *,
    kind: str,
    user_id: int | None,
    base_url: str,
    now: datetime,
    before: datetime,
    expires_at: datetime,
    max_per_hour: int,
) -> bool:
    """False if nothing will be sent: without a user, after a mail later than `before`, and after
    `max_per_hour` mails within the last hour."""
    row = fetch_one(
        conn,
        _SQL["insert_mail"],
        kind=kind,
        user_id=user_id,
        base_url=base_url,
        now=now,
        before=before,
        expires_at=expires_at,
        max_per_hour=max_per_hour,
    )
    return row is not None and bool(row["will_be_sent"])


def find_last(conn: Connection, user_id: int) -> Row | None:
    """The newest mail to the user."""
    return fetch_one(conn, _SQL["find_last_mail"], user_id=user_id)

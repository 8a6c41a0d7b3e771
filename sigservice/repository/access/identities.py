"""Identities of users at the OpenID provider: one function for each SQL statement."""

from datetime import datetime

from sigservice.db import Connection, Row, execute, fetch_all, fetch_one, fetch_value, queries

_SQL = queries.load("access/identities")


def find(conn: Connection, issuer: str, subject: str) -> Row | None:
    """{id, user_id}."""
    return fetch_one(conn, _SQL["find_identity"], issuer=issuer, subject=subject)


def insert(conn: Connection, user_id: int, issuer: str, subject: str, now: datetime) -> int:
    """The new ID; raises UniqueViolation."""
    values = {"user_id": user_id, "issuer": issuer, "subject": subject, "now": now}
    return int(fetch_value(conn, _SQL["insert_identity"], **values))


def mark_used(conn: Connection, id: int, now: datetime) -> bool:
    """False if the identity is deleted."""
    return execute(conn, _SQL["mark_identity_used"], id=id, now=now) > 0


def list_of_user(conn: Connection, user_id: int) -> list[Row]:
    return fetch_all(conn, _SQL["list_identities_of_user"], user_id=user_id)


def list_all(conn: Connection) -> list[Row]:
    """{user_id, issuer, last_sign_in_at} of each identity."""
    return fetch_all(conn, _SQL["list_identities"])


def delete(conn: Connection, user_id: int, id: int) -> Row | None:
    """{issuer, subject}; None if the user has no such identity."""
    return fetch_one(conn, _SQL["delete_identity"], user_id=user_id, id=id)


def delete_all(conn: Connection, user_id: int | None) -> list[Row]:
    """{user_id, username, email, issuer, subject} of each deleted one; of all users without one."""
    return fetch_all(conn, _SQL["delete_identities"], user_id=user_id)


def end_sessions(conn: Connection, id: int) -> int:
    return execute(conn, _SQL["end_sessions_of_identity"], id=id)


def end_provider_sessions(
    conn: Connection,
    *,
    issuer: str,
    subject: str | None,
    provider_session: str | None,
    issued_at: datetime,
) -> list[Row]:
    """{id, username, email} of the user of each session that ended; `issued_at` is the time of the
    logout."""
    return fetch_all(
        conn,
        _SQL["end_provider_sessions"],
        issuer=issuer,
        subject=subject,
        provider_session=provider_session,
        issued_at=issued_at,
    )


def list_similar_candidates(conn: Connection, *, is_ascii: bool) -> list[str]:
    """The addresses that can equal another one, which is ASCII or not, after Unicode folding."""
    rows = fetch_all(conn, _SQL["list_emails_that_may_look_alike"], is_ascii=is_ascii)
    return [row["email"] for row in rows]

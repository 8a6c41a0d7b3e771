"""Whom an action set acts as: a service account with permissions of its own."""

from __future__ import annotations

from sigservice.db.pool import Connection
from sigservice.errors import NoPermissionError, NotFoundError
from sigservice.repository.access import service_accounts, users
from sigservice.services.identity import ADMIN_TOKEN_ID, EDIT, PERMISSIONS, Identity


def actor_of(conn: Connection, id: int) -> Identity:
    """`service_account` of one that is not at hand. Raises the same."""
    row = service_accounts.find(conn, id)
    return service_account(id, row["username"] if row else None, row["role"] if row else "")


def service_account(id: int, username: str | None, role: str) -> Identity:
    """Who a set acts as; no name when the account is gone. Raises NotFoundError,
    NoPermissionError."""
    if username is None:
        raise NotFoundError("The service account that this set acts as is gone.")
    actor = Identity(id, username, PERMISSIONS[role])
    if not actor.has_permission(EDIT):
        raise NoPermissionError(f"{username} may not change flags: its role is {role}.")
    return actor


def person(conn: Connection, id: int) -> Identity:
    """Who undoes a run; an admin token is nobody's. Raises NotFoundError."""
    if id == ADMIN_TOKEN_ID:
        return Identity(id, "admin token", PERMISSIONS["Admin"])
    row = users.find(conn, id)
    if row is None:
        raise NotFoundError("The user who asked for this is gone.")
    return Identity(row["id"], row["username"] or row["email"], PERMISSIONS[row["role"]])

"""The identity that an action set acts as: a service account that may change flags."""

from sigservice.db import Connection
from sigservice.errors import NoPermissionError, NotFoundError
from sigservice.repository.access import service_accounts, users
from sigservice.services.identity import ADMIN_TOKEN_ID, EDIT, PERMISSIONS, Identity


def find_service_account(conn: Connection, id: int) -> Identity:
    """Raises NotFoundError, NoPermissionError."""
    row = service_accounts.find(conn, id)
    return make_service_account(id, row["username"] if row else None, row["role"] if row else "")


def make_service_account(id: int, username: str | None, role: str) -> Identity:
    """`username` is None for a deleted account. Raises NotFoundError, NoPermissionError."""
    if username is None:
        raise NotFoundError("The service account of this action set was deleted.")
    return _make_actor(id, username, role)


def find_user(conn: Connection, id: int) -> Identity:
    """The user who undoes a run, or the admin token. Raises NotFoundError,
    NoPermissionError."""
    if id == ADMIN_TOKEN_ID:
        return Identity(id, "admin token", PERMISSIONS["Admin"])
    row = users.find(conn, id)
    if row is None:
        raise NotFoundError("The user who requested this was deleted.")
    return _make_actor(row["id"], row["username"] or row["email"], row["role"])


def _make_actor(id: int, username: str, role: str) -> Identity:
    actor = Identity(id, username, PERMISSIONS[role])
    if not actor.has_permission(EDIT):
        raise NoPermissionError(f"{username} can't change flags: its role is {role}.")
    return actor

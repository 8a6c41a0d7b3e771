"""Sign-in, sessions and sign-out. The cookie's value is random; its SHA-256 is stored.

`realm` is the authentication type that a session was opened under; under another one it is
unknown, so that who came in by an address alone does not stay when passwords are demanded.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from sigservice import secrets
from sigservice.db.pool import Connection, Database
from sigservice.db.run import Row
from sigservice.errors import PasswordMismatch
from sigservice.repository import sessions, users
from sigservice.services.identity import PERMISSIONS, Identity

LONGEST_LOGIN = 320
LONGEST_PASSWORD = 1024


def verify(database: Database, passwords: secrets.Passwords, login: str, password: str) -> Row:
    """The user; raises PasswordMismatch, the same for an unknown name and a wrong password.

    Holds no connection while the password is hashed.
    """
    if len(login) > LONGEST_LOGIN or len(password) > LONGEST_PASSWORD:
        raise _mismatch()
    with database.autocommit() as conn:
        user = users.find_by_login(conn, login)
    stored = user["password_hash"] if user else None
    if not passwords.matches(stored, password) or user is None:
        raise _mismatch()
    if stored and passwords.is_outdated(stored):
        new_hash = passwords.hash(password)
        with database.autocommit() as conn:
            users.replace_hash(conn, user["id"], old_hash=stored, new_hash=new_hash)
    return user


def _mismatch() -> PasswordMismatch:
    return PasswordMismatch("The user name or the password is wrong.")


def open_session(
    conn: Connection,
    user: Row,
    *,
    now: datetime,
    ttl_hours: int,
    replaces: str | None,
    realm: str,
) -> str:
    """A new session id for the cookie. `replaces` is the browser's former one, which ends."""
    if replaces:
        sessions.delete(conn, secrets.stored(replaces, realm))
    session_id = secrets.new_secret()
    sessions.insert(
        conn,
        id_hash=secrets.stored(session_id, realm),
        user_id=user["id"],
        now=now,
        expires_at=now + timedelta(hours=ttl_hours),
    )
    users.mark_seen(conn, user["id"])
    return session_id


def identify(
    conn: Connection, session_id: str, *, now: datetime, ip: str, realm: str
) -> Identity | None:
    """Whose session it is, or None when it is unknown or has ended."""
    id_hash = secrets.stored(session_id, realm)
    user = sessions.find_user(conn, id_hash, now)
    if user is None:
        return None
    identity = identity_of(user, ip=ip)
    return replace(
        identity,
        has_built_in_password=user["has_built_in_password"],
        built_in_password_works=user["built_in_password_works"],
        session_hash=id_hash,
        csrf=csrf_token(session_id),
    )


def identity_of(user: Row, *, ip: str) -> Identity:
    return Identity(
        user_id=user["id"],
        username=user["username"] or user["email"],
        permissions=PERMISSIONS[user["role"]],
        role=user["role"],
        ip=ip,
        email=user["email"],
        name=user["name"],
    )


def csrf_token(session_id: str) -> str:
    """Follows from the session id, so that nothing more need be stored."""
    return secrets.derive(session_id, "csrf")


def close_all(conn: Connection, identity: Identity) -> None:
    """Sign-out ends all sessions of the user."""
    sessions.delete_of_user(conn, identity.user_id)

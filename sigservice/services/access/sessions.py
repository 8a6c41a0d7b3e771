"""Sign-in, sessions and sign-out. The cookie's value is random; its SHA-256 is stored.

A session is valid in one authentication scope: the type that it was opened under. A user who
signed in by email address alone is signed out when passwords are required.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from sigservice.clock import format_iso
from sigservice.crypto import secrets
from sigservice.db import Connection, Database, Row
from sigservice.errors import NotFoundError
from sigservice.repository.access import identities, sessions, users
from sigservice.services.access.failed_sign_ins import SignInError
from sigservice.services.identity import Identity, make_identity
from sigservice.services.system import events

MAX_LOGIN = 320
MAX_PASSWORD = 1024
MAX_SIGN_IN_TRIES = 2
MAX_USER_AGENT = 200
MAX_SESSIONS = 100  # in a list
_NEVER = datetime.min.replace(tzinfo=UTC)


class SessionOrigin(NamedTuple):
    """How a session is opened; `method` is password, oidc, email, custom or link. The other fields
    come from the provider's ID token. `is_break_glass` is for the audit log."""

    method: str
    is_break_glass: bool = False
    identity_id: int | None = None
    provider_session: str | None = None
    provider_issued_at: datetime | None = None
    id_token: str | None = None


def verify_password(
    database: Database,
    passwords: secrets.Passwords,
    login: str,
    password: str,
    may_use_password: Callable[[Row], bool] = lambda user: True,
) -> Row:
    """The user, with the hash that was verified. A user who may not use a password gets the same
    answer as for a wrong password, after the same time. Raises UnavailableError, and SignInError,
    with the same message for an unknown login and a wrong password.

    Holds no connection during the hashing.
    """
    if len(login) > MAX_LOGIN or len(password) > MAX_PASSWORD:
        raise _make_sign_in_error(None)
    with passwords.admit():
        with database.autocommit() as conn:
            user = users.find_by_login(conn, login)
        password_hash = user["password_hash"] if user and may_use_password(user) else None
        if not passwords.matches(password_hash, password) or user is None:
            raise _make_sign_in_error(user)
        if password_hash and passwords.is_outdated(password_hash):
            new_hash = passwords.hash(password)
            with database.autocommit() as conn:
                is_replaced = users.replace_hash(
                    conn, user["id"], old_hash=password_hash, new_hash=new_hash
                )
            if is_replaced:
                user["password_hash"] = new_hash
    return user


def sign_in(
    database: Database,
    passwords: secrets.Passwords,
    login: str,
    password: str,
    open_session: Callable[[Connection, Row], str | None],
    may_use_password: Callable[[Row], bool] = lambda user: True,
) -> tuple[Row, str]:
    """The user and the ID of the session that `open_session` opens in its own transaction;
    `open_session` returns None if the verified hash is no longer stored. Tries twice, because a new
    hash of the same password may have replaced it. Raises what `verify_password` and `open_session`
    raise.
    """
    user = None
    for _ in range(MAX_SIGN_IN_TRIES):
        user = verify_password(database, passwords, login, password, may_use_password)
        with database.transaction() as conn:
            session_id = open_session(conn, user)
        if session_id:
            return user, session_id
    raise _make_sign_in_error(user)


def _make_sign_in_error(user: Row | None) -> SignInError:
    reason = "wrong password" if user else "unknown user"
    return SignInError("Wrong username or password.", reason, user)


def open_session(
    conn: Connection,
    user: Row,
    *,
    now: datetime,
    ttl_hours: int,
    replaces: str | None,
    authentication_scope: str,
    ip: str,
    user_agent: str,
    origin: SessionOrigin,
    verified_hash: str | None = None,
) -> str | None:
    """The ID of a new session, for the cookie. Ends `replaces`, the browser's earlier session.

    Returns None, and the caller must not commit, if the user or the identity is deleted, or
    `verified_hash` is no longer stored.
    """
    if not users.record_sign_in(conn, user["id"], verified_hash):
        return None
    if origin.identity_id and not identities.mark_used(conn, origin.identity_id, now):
        return None
    if replaces:
        sessions.delete(conn, secrets.hash_in_scope(replaces, authentication_scope))
    session_id = secrets.generate_secret()
    sessions.insert(
        conn,
        id_hash=secrets.hash_in_scope(session_id, authentication_scope),
        user_id=user["id"],
        now=now,
        expires_at=now + timedelta(hours=ttl_hours),
        ip=ip,
        user_agent=user_agent[:MAX_USER_AGENT],
        identity_id=origin.identity_id,
        provider_session=origin.provider_session,
        provider_issued_at=origin.provider_issued_at,
        id_token=origin.id_token,
    )
    by = make_identity(user, ip=ip)
    data = {"id": by.user_id, "username": by.username, "method": origin.method}
    data |= {"breakGlass": True} if origin.is_break_glass else {}
    events.record(conn, "user-signed-in", by, data=data)
    return session_id


def find_identity(
    conn: Connection,
    session_id: str,
    *,
    now: datetime,
    ip: str,
    authentication_scope: str,
    idle: timedelta | None = None,
    last_use: Callable[[bytes], datetime | None] = lambda id_hash: None,
    accepts: Callable[[Row], bool] = lambda user: True,
) -> Identity | None:
    """The user of a session; None if it is unknown or has ended.

    `accepts` decides whether a session with this `issuer` is valid. `idle` is the time without use
    after which a session ends; `last_use` returns uses that aren't stored yet.
    """
    id_hash = secrets.hash_in_scope(session_id, authentication_scope)
    used_at = last_use(id_hash) or _NEVER  # before it is read there, to miss no use
    user = sessions.find_user(conn, id_hash, now)
    if user is None or not accepts(user):
        return None
    if idle is not None and max(user["last_used_at"], used_at) <= now - idle:
        return None
    identity = make_identity(user, ip=ip)
    return replace(
        identity,
        has_default_password=user["has_built_in_password"],
        default_password_works=user["default_password_works"],
        session_hash=id_hash,
        csrf=derive_csrf_token(session_id),
        has_password=user["has_password"],
        is_from_provider=user["issuer"] is not None,
        confirmed_at=user["confirmed_at"],
    )


def derive_csrf_token(session_id: str) -> str:
    """Derives the token from the session ID, so it needn't be stored."""
    return secrets.derive(session_id, "csrf")


def list_own_sessions(
    conn: Connection, identity: Identity, *, now: datetime, idle: timedelta | None
) -> list[Row]:
    """The user's sessions: the current one first, then by last use, newest first."""
    return sessions.list_of_user(
        conn,
        identity.user_id,
        current_hash=identity.session_hash,
        now=now,
        idle_before=now - idle if idle is not None else None,
        limit=MAX_SESSIONS,
    )


def end_session(conn: Connection, identity: Identity, id: int) -> bool:
    """Ends one of the user's sessions; returns whether it was the current one. Raises
    NotFoundError, also for a session of another user."""
    row = sessions.delete_own(conn, identity.user_id, id, current_hash=identity.session_hash)
    if row is None:
        raise NotFoundError("Session not found.")
    events.record(conn, "user-sessions-ended", identity, data={"sessionId": id, "count": 1})
    return bool(row["is_current"])


def end_other_sessions(conn: Connection, identity: Identity) -> None:
    """Ends the user's sessions except the current one."""
    count = sessions.delete_of_user(conn, identity.user_id, identity.session_hash)
    if count:
        events.record(conn, "user-sessions-ended", identity, data={"count": count})


def to_json(row: Row) -> dict[str, Any]:
    """The session in the API, without its hash."""
    return {
        "id": row["id"],
        "createdAt": format_iso(row["created_at"]),
        "lastUsedAt": format_iso(row["last_used_at"]),
        "expiresAt": format_iso(row["expires_at"]),
        "ip": row["ip"],
        "userAgent": row["user_agent"],
        "isCurrent": row["is_current"],
    }


def sign_out(conn: Connection, identity: Identity) -> None:
    """Ends all sessions of the user."""
    if sessions.delete_of_user(conn, identity.user_id):
        data = {"id": identity.user_id, "username": identity.username}
        events.record(conn, "user-signed-out", identity, data=data)

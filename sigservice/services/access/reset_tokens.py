"""Reset links and invite links, which set a password once: sent by email or shared by an admin.

Several links that were requested by email can be valid at the same time, so a request by another
person invalidates none of them. A link that an admin creates invalidates the earlier ones, and a
new password invalidates all links of the user."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import NamedTuple

import msgspec

from sigservice.crypto import secrets
from sigservice.crypto.secrets import Passwords
from sigservice.db import Connection, Database, Row
from sigservice.errors import InvalidTokenError, UsedTokenError
from sigservice.repository.access import reset_tokens
from sigservice.repository.access import users as user_rows
from sigservice.repository.system import mails as mail_rows
from sigservice.services.access import passwords, users
from sigservice.services.access.sessions import MAX_LOGIN
from sigservice.services.identity import PERMISSIONS, SYSTEM_ID, Identity
from sigservice.services.system import events, mails

LIFETIME = timedelta(hours=24)  # of invite links and of links that an admin creates
_INVALID = "This link is invalid or has expired. Request a new one."


class Invitation(NamedTuple):
    """`secret` isn't stored. If `is_mailed`, an email with another link is on its way."""

    user: Row
    secret: str
    is_mailed: bool


def invite_user(
    conn: Connection,
    profile: users.Profile,
    password_hash: str | None,
    by: Identity,
    *,
    mail_from: str,
    now: datetime,
) -> Invitation:
    """Creates a user and an invite link, and emails a link if the user has an address and
    `mail_from`, the base URL of links, isn't empty. Raises what users.create raises."""
    user = users.create(conn, profile, password_hash, by)
    secret = _issue(conn, user["id"], by.username, now)
    is_mailed = bool(mail_from and user["email"]) and mails.enqueue(
        conn, "welcome", user["id"], base_url=mail_from, now=now
    )
    return Invitation(user, secret, is_mailed)


def create_link(conn: Connection, user: Row, by: Identity, now: datetime) -> str:
    """The secret of a link for an admin to share; emails that aren't sent yet are cancelled."""
    mail_rows.delete_waiting(conn, user["id"])
    secret = _issue(conn, user["id"], by.username, now)
    data = {"id": user["id"], "username": user["username"] or user["email"]}
    events.record(conn, "password-link-created", by, data=data)
    return secret


def request_link(
    conn: Connection,
    email: str,
    *,
    base_url: str,
    ip: str,
    now: datetime,
    may_reset: Callable[[Connection, Row | None], bool] = lambda conn, user: True,
) -> bool:
    """Whether an email will be sent, which the caller must not reveal; `may_reset` decides for a
    known user. An unknown address takes about the same time."""
    user = None
    if "@" in email and len(email) <= MAX_LOGIN:
        user = user_rows.find_by_login(conn, email)
    if not may_reset(conn, user):
        user = None
    will_be_sent = mails.enqueue(
        conn, "reset", user["id"] if user else None, base_url=base_url, now=now
    )
    if user and will_be_sent:
        data = {"id": user["id"], "username": user["username"] or user["email"]}
        by = Identity(SYSTEM_ID, "anonymous", frozenset(), ip=ip)
        events.record(conn, "password-reset-requested", by, data=data)
    return will_be_sent


def prepare_mail(
    conn: Connection, message: Row, now: datetime, *, reset_lifetime: timedelta
) -> mails.Mail | None:
    """The email of a leased message, with a new link; None if the user was deleted."""
    user, kind = user_rows.find(conn, message["user_id"]), message["kind"]
    if user is None:
        return None
    lifetime = reset_lifetime if kind == "reset" else LIFETIME
    return mails.Mail(
        kind,
        message["message_id"],
        msgspec.json.decode(message["payload"])["base_url"],
        user["email"],
        user["name"],
        _insert(conn, user["id"], "mail", now, lifetime),
        lifetime,
    )


def find_link(conn: Connection, secret: str, now: datetime) -> Row:
    """The link with its user. Raises InvalidTokenError, UsedTokenError."""
    row = reset_tokens.find(conn, secrets.sha256(secret), now)
    if row is None:
        raise InvalidTokenError(_INVALID)
    if row["used_at"]:
        raise UsedTokenError("This link has already been used. Request a new one.")
    return row


def redeem_link(
    database: Database,
    hasher: Passwords,
    user: Row,
    secret: str,
    password: str,
    *,
    ip: str,
    now: datetime,
) -> None:
    """Sets the password of `user`, which `find_link` returned, and ends the user's sessions.

    Raises what `find_link` raises, OwaspValidationError, PasswordPreviouslyUsedError and
    UnavailableError.
    """
    passwords.check(password, user["username"], user["email"])
    with hasher.admit():
        users.check_former_passwords(database, hasher, user["user_id"], password)
        password_hash = hasher.hash(password)
    by = Identity(
        user["user_id"], user["username"] or user["email"], PERMISSIONS[user["role"]], ip=ip
    )
    with database.transaction() as conn:
        user_rows.lock_user(conn, user["user_id"])
        if not reset_tokens.use(conn, secrets.sha256(secret), now):
            find_link(conn, secret, now)  # raises if it was used or expired meanwhile
            raise InvalidTokenError(_INVALID)
        users.set_password(conn, user["user_id"], password_hash, by)


def _issue(conn: Connection, user_id: int, created_by: str, now: datetime) -> str:
    reset_tokens.delete_unused(conn, user_id)
    return _insert(conn, user_id, created_by, now, LIFETIME)


def _insert(
    conn: Connection, user_id: int, created_by: str, now: datetime, lifetime: timedelta
) -> str:
    secret = secrets.generate_secret()
    reset_tokens.insert(
        conn,
        token_hash=secrets.sha256(secret),
        user_id=user_id,
        created_by=created_by,
        now=now,
        expires_at=now + lifetime,
    )
    return secret

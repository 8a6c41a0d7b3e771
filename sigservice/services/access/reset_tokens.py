"""Links by which people set a password: asked for by mail, handed out by an admin, used once.

Links that users ask for exist side by side: a stranger's request ends no link. A link of an admin
ends the earlier ones, and a new password ends all of the user's links.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import NamedTuple

from sigservice import secrets
from sigservice.db.pool import Connection, Database
from sigservice.db.statements import Row
from sigservice.errors import InvalidTokenError, UsedTokenError
from sigservice.repository.access import reset_tokens
from sigservice.repository.access import users as user_repository
from sigservice.repository.system import mails as mail_repository
from sigservice.secrets import Passwords
from sigservice.services.access import passwords, users
from sigservice.services.access.sessions import MAX_LOGIN
from sigservice.services.identity import PERMISSIONS, SYSTEM_ID, Identity
from sigservice.services.system import events, mails

LIFETIME = timedelta(hours=24)  # of invitations and of links that an admin hands over


class Invitation(NamedTuple):
    """`secret` is shown this once; `is_mailed`: a mail with a link of its own is on its way."""

    user: Row
    secret: str
    is_mailed: bool


def invite_user(
    conn: Connection,
    who: users.Profile,
    password_hash: str | None,
    by: Identity,
    *,
    mail_from: str,
    now: datetime,
) -> Invitation:
    """A new user with a link to set a password, mailed too if there is a `mail_from`, the address
    that its link leads to, and the user has one. Raises what users.create does."""
    user = users.create(conn, who, password_hash, by)
    secret = _issue(conn, user["id"], by.username, now)
    is_mailed = bool(mail_from and user["email"]) and mails.enqueue(
        conn, "welcome", user["id"], base_url=mail_from, now=now
    )
    return Invitation(user, secret, is_mailed)


def create_link(conn: Connection, user: Row, by: Identity, now: datetime) -> str:
    """A link's secret for an admin to pass on; a mail that waits is not sent any more."""
    mail_repository.delete_waiting(conn, user["id"])
    secret = _issue(conn, user["id"], by.username, now)
    data = {"id": user["id"], "username": user["username"] or user["email"]}
    events.record(conn, "password-link-created", by, data=data)
    return secret


def request_link(conn: Connection, email: str, *, base_url: str, ip: str, now: datetime) -> bool:
    """Whether a mail will be sent. Whoever asks is told nothing, and takes about the same time for
    an address that nobody has."""
    user = None
    if "@" in email and len(email) <= MAX_LOGIN:
        user = user_repository.find_by_login(conn, email)
    will_be_sent = mails.enqueue(
        conn, "reset", user["id"] if user else None, base_url=base_url, now=now
    )
    if user and will_be_sent:
        data = {"id": user["id"], "username": user["username"] or user["email"]}
        anybody = Identity(SYSTEM_ID, "anonymous", frozenset(), ip=ip)
        events.record(conn, "password-reset-requested", anybody, data=data)
    return will_be_sent


def claim_mail(
    conn: Connection, now: datetime, *, reset_lifetime: timedelta
) -> tuple[Row, str] | None:
    """The next mail to send, with `link_lifetime`, and the secret of a link that is made for it."""
    mail = mails.claim(conn, now)
    if mail is None:
        return None
    lifetime = reset_lifetime if mail["kind"] == "reset" else LIFETIME
    secret = _insert(conn, mail["user_id"], "mail", now, lifetime)
    return mail | {"link_lifetime": lifetime}, secret


def find_link(conn: Connection, secret: str, now: datetime) -> Row:
    """Whose link it is. Raises InvalidTokenError, UsedTokenError."""
    row = reset_tokens.find(conn, secrets.sha256(secret), now)
    if row is None:
        raise InvalidTokenError("This link is unknown or has expired. Ask for another one.")
    if row["used_at"]:
        raise UsedTokenError("This link has been used. Ask for another one.")
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
    """Sets the password of `user`, as `find` returned it for the link, once; the sessions end.

    Raises what `find` does, OwaspValidationError, PasswordPreviouslyUsedError, UnavailableError.
    """
    passwords.check(password, user["username"], user["email"])
    with hasher.admit():
        users.check_former_passwords(database, hasher, user["user_id"], password)
        password_hash = hasher.hash(password)
    by = Identity(
        user["user_id"], user["username"] or user["email"], PERMISSIONS[user["role"]], ip=ip
    )
    with database.transaction() as conn:
        user_repository.lock_user(conn, user["user_id"])
        if not reset_tokens.use(conn, secrets.sha256(secret), now):
            find_link(conn, secret, now)  # says what has happened meanwhile
            raise InvalidTokenError("This link is unknown or has expired. Ask for another one.")
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
